"""Tables in memory: pandas, polars, Arrow and whatever hands over an Arrow stream.

Opening one looks at names and types. The rows are put into Arrow's form at the first answer.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from entwined.errors import BadTable
from entwined.schema import Coded, Schema
from entwined.tables.duck import Duck, opened
from entwined.tables.engine import FAR, Shown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NAME: Final = "frame"
UNITS: Final = {"s": 1_000_000, "ms": 1_000}


def open_arrow(source: Any) -> Duck:
    """Open an Arrow table, or anything with an Arrow stream."""
    import pyarrow as pa

    reader = source if isinstance(source, pa.Table) else pa.RecordBatchReader.from_stream(source)
    columns = {name: _shown(at, reader.schema.types[at]) for at, name in enumerate(checked_names(reader.schema.names))}

    def load() -> Mapping[str, "pa.Table"]:
        table = reader if isinstance(reader, pa.Table) else reader.read_all()
        return {NAME: pa.table([_plain(column) for column in table.columns], names=_places(table.num_columns))}

    return Duck(NAME, columns, opened(), load)


def open_pandas(frame: "pd.DataFrame", schema: Schema | None = None) -> Duck:
    """Open a pandas frame; a column of Python objects that are not all text is coded value by value."""
    import pandas as pd
    import pyarrow as pa

    names = checked_names([str(name) for name in frame.columns])
    columns: dict[str, Shown] = {}
    makers: list[Callable[[], pa.Array]] = []
    for at, name in enumerate(names):
        series = frame.iloc[:, at]
        if series.dtype == object:
            columns[name] = Shown("code" if _is_coded(schema, name) else "text", f"c{at}", "object")
            makers.append(_object_maker(series, schema, name))
        else:
            empty = pa.Array.from_pandas(pd.Series([], dtype=series.dtype))
            columns[name] = _shown(at, empty.type)
            makers.append(_maker(series, empty.type))

    def load() -> Mapping[str, pa.Table]:
        return {NAME: pa.table([make() for make in makers], names=_places(len(makers)))}

    return Duck(NAME, columns, opened(), load)
