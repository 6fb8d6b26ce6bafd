"""The report page: the published figures as one self-contained HTML file.

Jinja templates lay out the page and escape all values. Charts are our own SVG (charts.py and
templates/parts.html). Their text keeps its size on a phone, and their colours follow the page, light or dark.
Charts by Matplotlib or pygal have fixed sizes and colours, and plotly and vega need scripts. Screen readers
get the numbers of a chart, but only the title of a sparkline.
"""
