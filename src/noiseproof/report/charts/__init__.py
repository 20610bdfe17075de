"""Charts for a page: inline SVG that takes its colours from the page and says its values in words.

Each function returns ``Markup``, a ``str`` that a template puts into the page as it is. Hues are
those of Okabe and Ito, a shade darker or lighter where the page is light or dark.
"""

from noiseproof.report.charts.bars import bar_chart
from noiseproof.report.charts.heat import heat_map
from noiseproof.report.charts.lines import legend, line_chart

__all__ = ["bar_chart", "heat_map", "legend", "line_chart"]
