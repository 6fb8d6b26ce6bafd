"""One window on its way: asked, read until it is proven to be whole, landed, and made rows of."""
