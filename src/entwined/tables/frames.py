"""Tables in memory: pandas, polars, Arrow and whatever hands over an Arrow stream.

Opening one looks at names and types. The rows are put into Arrow's form at the first answer.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from entwined.errors import BadTable
from entwined.schema import Coded, Column
from entwined.schema.comparison import spelled
from entwined.tables.duck import Duck, floored, opened, shown, within
from entwined.tables.engine import Shown
from entwined.tables.origin import IN_MEMORY

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NAME: Final = "frame"
TIMES: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}
MILLISECONDS_A_DAY: Final = 86_400_000


def open_arrow(source: Any) -> Duck:
    """Open an Arrow table, or anything with an Arrow stream."""
    import pyarrow as pa

    reader = source if isinstance(source, pa.Table) else pa.RecordBatchReader.from_stream(source)
    names = checked_names(reader.schema.names)
    columns = {name: arrow_shown(f"c{at}", reader.schema.types[at]) for at, name in enumerate(names)}

    def load() -> Mapping[str, "pa.Table"]:
        lasts = not isinstance(reader, pa.Table)
        table = reader.read_all() if lasts else reader
        made = pa.table([plain(column) for column in table.columns], names=places(table.num_columns))
        return {NAME: made if lasts else owned(made)}

    return Duck(NAME, columns, opened(), IN_MEMORY, load)


def open_pandas(frame: "pd.DataFrame", declared: Mapping[str, Column]) -> Duck:
    """Open a pandas frame; Python objects are coded here, by the declared columns themselves."""
    import pyarrow as pa

    names = checked_names([str(name) for name in frame.columns])
    columns: dict[str, Shown] = {}
    makers: list[Callable[[], pa.Array]] = []
    for at, name in enumerate(names):
        place, series = f"c{at}", frame.iloc[:, at]
        if series.dtype == object:
            column = declared.get(name)
            columns[name] = Shown("code" if isinstance(column, Coded) else "text", place, "object")
            makers.append(functools.partial(coded, series, column))
        else:
            columns[name] = arrow_shown(place, _arrow_type(series))
            makers.append(functools.partial(_whole_column, series))

    def load() -> Mapping[str, pa.Table]:
        return {NAME: owned(pa.table([make() for make in makers], names=places(len(makers))))}

    return Duck(NAME, columns, opened(), IN_MEMORY, load)


def arrow_column(series: "pd.Series[Any]", place: str) -> "tuple[Shown, pa.Array | pa.ChunkedArray]":
    """Put a column of a frame into Arrow's form, and say how it shows there; Python objects become text."""
    if series.dtype == object:
        return Shown("text", place, "object"), coded(series, None)
    return arrow_shown(place, _arrow_type(series)), _whole_column(series)


def owned(table: "pa.Table") -> "pa.Table":
    """Copy rows whose memory somebody else may write to."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


def checked_names(names: Sequence[str]) -> Sequence[str]:
    """Refuse a frame with two columns of one name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise BadTable(f"The frame has two columns named {twice!r}. Rename one of them.")
    return names


def places(columns: int) -> list[str]:
    """Name columns by their place: names of the source stay out of statements."""
    return [f"c{at}" for at in range(columns)]


def arrow_shown(place: str, kind: "pa.DataType") -> Shown:
    """Show a column of an Arrow type; times are handed over as integers, so that none is too far for DuckDB."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    name = str(kind)
    if types.is_timestamp(kind):
        micros = within(floored(place, 1000)) if kind.unit == "ns" else within(place, TIMES[kind.unit])
        return Shown("moment", micros, name)
    if types.is_date32(kind):
        return Shown("day", place, name)
    if types.is_date64(kind):
        return Shown("day", floored(place, MILLISECONDS_A_DAY), name)
    if types.is_null(kind):
        return Shown("nothing", place, name)
    known = {
        "VARCHAR": types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind),
        "BOOLEAN": types.is_boolean(kind),
        "UBIGINT": types.is_uint64(kind),
        "INTEGER": types.is_integer(kind),
        "FLOAT": types.is_floating(kind),
        "DECIMAL(38,0)": types.is_decimal(kind),
    }
    fitting = next((sql for sql, fits in known.items() if fits), "")
    return dataclasses.replace(shown(place, fitting), type=name)


def plain(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Turn a column into a form that DuckDB reads as it is, whatever the values."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(column.type):
        return plain(_spelled_out(column))
    kind = column.type
    if types.is_timestamp(kind) or types.is_date64(kind):
        return column.cast(pa.int64())
    if types.is_date32(kind):
        return column.cast(pa.int32()).cast(pa.int64())
    if types.is_decimal(kind):
        return column.cast(pa.string())
    if types.is_float16(kind):
        return column.cast(pa.float32())
    if types.is_string_view(kind):
        return column.cast(pa.large_string())
    if arrow_shown("", kind).kind in ("other", "nothing"):
        return pa.chunked_array([pa.nulls(len(column), pa.int64())])
    return column


def _spelled_out(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Write out a column kept as a dictionary."""
    import pyarrow as pa

    kind = column.type.value_type
    if pa.types.is_string_view(kind):  # which Arrow cannot pick from
        kind = pa.large_string()
    chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, kind)


def _arrow_type(series: "pd.Series[Any]") -> "pa.DataType":
    """Find out what a pandas type becomes, without a row."""
    import pyarrow as pa

    try:
        return pa.Array.from_pandas(series.iloc[:0]).type
    except (pa.ArrowException, TypeError, NotImplementedError):
        return pa.binary()


def _whole_column(series: "pd.Series[Any]") -> "pa.ChunkedArray":
    import pyarrow as pa

    if arrow_shown("", _arrow_type(series)).kind == "other":
        return pa.chunked_array([pa.nulls(len(series), pa.int64())])
    return plain(pa.chunked_array([pa.Array.from_pandas(series)]))


def coded(series: "pd.Series[Any]", column: Column | None) -> "pa.Array":
    """Make codes of values: of each different one once where equal values are alike, else one by one.

    A column that is never queried becomes text.
    """
    import pandas as pd
    import pyarrow as pa

    if not isinstance(column, Coded):
        return pa.array(map(spelled, series), pa.large_string())
    if series.dtype != object:
        places_of, different = pd.factorize(series)
        codes = [column.encode(one) for one in different.tolist()]
        return pa.array([*codes, column.missing_code], pa.int64()).take(
            pa.array(places_of % (len(codes) + 1))
        )
    try:
        found = pa.array(series, type=pa.large_string(), from_pandas=True).dictionary_encode()
    except (pa.ArrowException, TypeError, ValueError):
        return pa.array([column.encode(one) for one in series], pa.int64())
    codes = [column.encode(text) for text in found.dictionary.to_pylist()]
    return pa.array(codes, pa.int64()).take(found.indices).fill_null(column.missing_code)
