"""What are people, streets and firms of the sandbox called? Lists of believable Swedish names."""

from __future__ import annotations

FIRST_NAMES = (
    "Anna Erik Maria Lars Karin Anders Kristina Johan Eva Per Lena Nils Emma Mikael Sara Jan Malin Hans "
    "Jenny Peter Elin Gustav Linnéa Fredrik Hanna Daniel Ida Mattias Frida Oskar Åsa Björn Östen Märta "
    "Viktor Klara Simon Ebba Axel Alva Filip Wilma Hugo Astrid Leo Amira Yusuf Samira Ali Mei Ivana Piotr"
).split()

LAST_NAMES = (
    "Andersson Johansson Karlsson Nilsson Eriksson Larsson Olsson Persson Svensson Gustafsson Pettersson "
    "Jonsson Jansson Hansson Bengtsson Jönsson Lindberg Jakobsson Magnusson Lindström Olofsson Lindqvist "
    "Lindgren Berg Axelsson Bergström Lundberg Lind Lundgren Mattsson Berglund Fredriksson Sandberg "
    "Henriksson Forsberg Sjöberg Wallin Engström Eklund Danielsson Håkansson Lundin Gunnarsson Björk "
    "Bergman Holm Wikström Samuelsson Isaksson Åkesson Öberg Ek Nyström Holmberg Ahmed Hussein Kovač Nguyen"
).split()

DOUBLE_NAMES = ("von Essen", "de la Gardie", "Lind-Åkesson", "O'Brien", "af Klercker", "Berg Holm")

STREETS = (
    "Storgatan Kyrkogatan Skolgatan Järnvägsgatan Drottninggatan Kungsgatan Björkvägen Tallvägen Granvägen "
    "Ekvägen Lindvägen Rönnvägen Ängsvägen Åkervägen Sjövägen Strandvägen Hamngatan Bäckvägen Lärkvägen "
    "Svalvägen Trastvägen Ringvägen Parkgatan Södergatan Norrgatan Östergatan Västergatan Slottsgatan "
    "Kvarngatan Smedjegatan Fabriksgatan Nygatan Trädgårdsgatan Vintergatan Midsommarvägen Älgstigen"
).split()

GROUP_NAMES = (
    "Hemviken", "Lindgården", "Norrskär", "Ekbacken", "Sjöstjärnan", "Bergslaget", "Tolvmannen",
    "Västanvind", "Rosendal", "Granudden", "Fyrtornet", "Åsgläntan",
)  # fmt: skip

SINGLE_NAMES = (
    "Strand & Holm Mäkleri", "Björkens Bostad", "Öberg & Öberg", "Nyckelknippan", "Tre Trappor Mäkleri",
    "Kvarnens Fastighetsmäkleri", "Mäklare Ängblom", "O'Haras Hus",
)  # fmt: skip

LEAD_SENDERS = (
    "Bostadsportalen", "Egna hemsidan", "Lånekontoret", "Kundtjänst", "Värderingskollen", "Budgivarappen",
)  # fmt: skip

LEAD_RECEIVERS = (
    "Lånekontoret",
    "Flyttkompaniet",
    "Elavtal Direkt",
    "Hemförsäkringen",
    "Städbolaget Ren & Fin",
)

MESSAGES = (
    "Hej! Vi funderar på att sälja i vår och vill gärna ha en värdering.",
    "Ring efter kl 17, tack.",
    "Intresserad av visningen på söndag; kommer med barnvagn.",
    'Såg annonsen "Drömläge vid sjön" – är den kvar?',
    "Vi ska flytta ihop.\nTvå bostäder ska säljas, helst samtidigt.",
    "Dödsbo, behöver hjälp med allt. 😊",
    "Vill veta avgiften, driftskostnaden; och när tillträde kan ske",
    "",
)
