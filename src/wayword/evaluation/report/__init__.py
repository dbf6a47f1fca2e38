"""Pages and figures made of flights: HTML reports, failures, published results."""

from wayword.lazy_names import lazy_names

__all__ = [
    "FailureFilmer",
    "ReportedFlight",
    "failure_page",
    "summary_figures",
    "write_report",
    "write_table",
]

__getattr__ = lazy_names(
    __name__,
    {
        "failures": ("failure_page",),
        "html_report": ("FailureFilmer", "ReportedFlight", "write_report"),
        "html_table": ("write_table",),
        "publish": ("summary_figures",),
    },
)
