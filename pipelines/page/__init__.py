"""The report page: the published figures as one self-contained HTML file.

Jinja templates with autoescaping lay out the page. Charts are our own SVG (charts.py, templates/parts.html),
because matplotlib and pygal fix text and colours in the picture, and plotly and vega need scripts. Shapes are
positioned in percent, so that text keeps its size on a phone, and colours follow the page, light or dark. A
chart takes about 4 kB. Screen readers get the numbers of a chart, but only the title of a sparkline.
"""
