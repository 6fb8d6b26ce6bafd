"""Operations on what is held: replay, erasure, explanation, diagnosis."""
