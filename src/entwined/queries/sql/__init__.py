"""Queries from SQL: a small, allow-listed part of it, compiled to our own questions and never run as SQL.

    SELECT [key, …] aggregate [AS name], … FROM table [WHERE condition] [GROUP BY key, …]

Aggregates, of declared columns only:

    count(*)  count(x)               rows inside; rows inside where x is not missing
    sum(x)  avg(x)  var_pop(x)       var_pop divides by n; variance and var_samp, by n − 1, are refused
    count(*) FILTER (WHERE …)        rows inside of which the condition is true
    avg(CASE WHEN … THEN 1 ELSE 0 END)                a share of rows; of those left out where CASE says NULL
    count(*) FILTER (WHERE …) * 1.0 / count(*)        the same; sum(CASE …) above, count(x) or a FILTER below the line
    avg(flag)                        of a column of truth values: the share of TRUE among those that are not missing
    median(x)                        as the quantile at 1/2; min(x) and max(x) are refused
    quantile_cont(x, p)              a value of the grid whose rank is nearest to p·(n − 1): it lies
    percentile_cont(p) WITHIN GROUP (ORDER BY x)      between the two values that SQL would interpolate
    percentile_disc(p) WITHIN GROUP (ORDER BY x)      for p = 1/2, where it means the same

Conditions have SQL's three outcomes, and rows are inside where the outcome is true:

    x = 1  <> != < <= > >=           a column and a constant, in either order
    x [NOT] BETWEEN 1 AND 3   x [NOT] IN (1, 2)   x IS [NOT] NULL   flag   (…) IS [NOT] TRUE, FALSE
    NOT  AND  OR  ( )

A key, or what a condition compares, may be bands of a column instead, ranges of its values that follow each other:

    stage                            bands that the schema declares, by their name
    date_trunc('month', x)  EXTRACT(YEAR FROM x)      of times; any other part of a date would join years
    width_bucket(x, 0, 100, 10)      one range below, ten between, one above, as far as there are values
    x / 10  floor(x / 10.0)          of whole numbers from 0 on; of any numbers
    CASE WHEN x < 18 THEN 'young' ELSE 'old' END AS name      as a key only, conditions on one column

A missing value is in no band, whatever ELSE says, and is a group of its own, or left out, as the schema says.

Constants are exact numbers, 'texts', DATE '2020-01-31', TIMESTAMP '2020-01-31 12:00:00', TRUE, FALSE, NULL.
Unquoted names match in any case if only one column does; names in "…" match letter by letter.

Values are those of the public grid, after clamping and rounding as the schema declares.

GROUP BY gives every declared combination of keys, in the public order of the schema, empty ones included;
rows without a key are a group of their own, or left out, as the schema says of the column. A sum over no rows
is 0. count and sum are one question for all groups, any other aggregate is one a group, without the groups that
no row can be in. Texts that differ in case, spacing, aliases, the order of keys or how a condition is put
give equal questions.
"""

from entwined.queries.sql.select import MOST_ASKED, Sql, read_sql

__all__ = ["MOST_ASKED", "Sql", "read_sql"]
