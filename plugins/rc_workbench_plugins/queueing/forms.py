"""How the parts of a queueing model stand in a form."""

from workbench.api import Field, Group

MODEL = (
    Group("Model", "", (
        Field(("title",), "Title"),
        Field(("description",), "Description", "prose"),
    )),
)  # fmt: skip

STATION = (
    Group("Station", "rho = lambda / mu", (
        Field(("name",), "Name"),
        Field(("arrivals_per_s",), "From outside", "code", "jobs a second"),
        Field(("service_per_s",), "Service mu", "unit", "jobs a second"),
        Field(("variation",), "Variation", "unit", "of service: 1 exponential, 0 constant"),
        Field(("batch",), "Batch", "unit", "jobs that arrive together"),
        Field(("arrival_variation",), "Arrivals", "unit", "their variation: 1 Poisson, 0 even"),
    )),
    Group("Its queue", "", (
        Field(("places",), "Places", "unit", "jobs that fit, the one served included"),
        Field(("limited",), "Limited", "check", "jobs that arrive at a full queue are lost (M/M/1/K)"),
    )),
)  # fmt: skip

ROUTE = (
    Group("Route", "", (
        Field(("station",), "To"),
        Field(("jobs",), "Jobs", "unit", "for each one served"),
    )),
)  # fmt: skip

MEASURED = (
    Group("Measurement", "", (
        Field(("station",), "Station"),
        Field(("utilisation",), "Utilisation", "unit"),
        Field(("waiting",), "Waiting", "unit", "jobs in its queue"),
        Field(("observations",), "Observations", "unit", "that are independent"),
        Field(("source",), "Source"),
    )),
)  # fmt: skip
