"""Names of people, streets and companies; messages; towns with typical prices; places abroad."""

from __future__ import annotations

from pipelines.sandbox.world.records import Town

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
    "Lånekontoret", "Flyttkompaniet", "Elavtal Direkt", "Hemförsäkringen", "Städbolaget Ren & Fin",
)  # fmt: skip

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

TOWNS = (
    Town("Uppsala", 753, 59.8586, 17.6389, 5_600_000, 2_850_000),
    Town("Enköping", 745, 59.6361, 17.0777, 4_100_000, 1_950_000),
    Town("Västerås", 722, 59.6099, 16.5448, 4_200_000, 1_700_000),
    Town("Eskilstuna", 632, 59.3712, 16.5098, 3_200_000, 1_250_000),
    Town("Nyköping", 611, 58.7530, 17.0079, 3_700_000, 1_750_000),
    Town("Kalmar", 392, 56.6634, 16.3567, 3_500_000, 1_800_000),
    Town("Östersund", 831, 63.1792, 14.6357, 3_300_000, 1_900_000),
    Town("Linköping", 582, 58.4108, 15.6214, 4_700_000, 2_200_000),
    Town("Norrköping", 602, 58.5877, 16.1924, 3_900_000, 1_600_000),
    Town("Örebro", 702, 59.2753, 15.2134, 4_000_000, 1_850_000),
    Town("Karlstad", 652, 59.4022, 13.5115, 3_900_000, 2_050_000),
    Town("Jönköping", 553, 57.7826, 14.1618, 4_000_000, 2_000_000),
    Town("Växjö", 352, 56.8777, 14.8091, 3_800_000, 1_800_000),
    Town("Halmstad", 302, 56.6745, 12.8578, 4_300_000, 2_250_000),
    Town("Varberg", 432, 57.1056, 12.2508, 5_100_000, 3_000_000),
    Town("Borås", 503, 57.7210, 12.9401, 3_500_000, 1_450_000),
)

QUARTERS = ("", " Norra", " Södra", " Västra", " Östra", " Centrum", " Hamnen", " Torget")

FOREIGN_PLACES = (
    ("ES", "Calle del Mar", "29640", 36.5400, -4.6200, "EUR", 112_400),
    ("ES", "Avenida de la Constitución", "03180", 37.9780, -0.6820, "EUR", 112_900),
    ("FR", "Rue des Oliviers", "06400", 43.5513, 7.0128, "EUR", 113_100),
    ("PT", "Rua da Praia", "8200-001", 37.0890, -8.2470, "EUR", 112_700),
    ("NO", "Fjellveien", "2420", 61.3190, 12.2620, "NOK", 9_780),
    ("GB", "Church Lane", "SW18 4AA", 51.4570, -0.1910, "GBP", 131_200),
)
