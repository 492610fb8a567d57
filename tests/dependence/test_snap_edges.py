"""Edge lists as SNAP publishes them."""

import gzip

import pytest

from entwined.dependence import Graph
from entwined.dependence.snap_edges import read_published_edges
from entwined.errors import BadModel


@pytest.mark.parametrize(
    "text",
    [
        "# Directed graph\n# FromNodeId\tToNodeId\n0\t10\n10\t0\n\n10\t3\n3\t3\n3\t10\n",
        "0 10\n10 3\n",
        "user_a,user_b\r\n0,10\r\n3,10\r\n",
    ],
    ids=["SNAP, both directions", "blanks", "names"],
)
def test_each_tie_is_there_once(tmp_path, text):
    path = tmp_path / "edges.txt"
    path.write_text(text)
    found = read_published_edges(path)
    assert (found.nodes, found.ends.tolist()) == (3, [[0, 2], [1, 2]])
    packed = tmp_path / "edges.txt.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_published_edges(packed).ends.tolist() == found.ends.tolist()
    assert Graph(found.nodes, found.ends, 0.1).units == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1\t2\t3\n", "2 cells"),
        ("1 2\n1 b\n", "cannot be read"),
        ("1 2\n3\n", "cannot be read"),
        ("1,2\n,3\n", "empty cell"),
        ("# a\nb c\n", "begins with a number"),
        ("", "empty"),
    ],
)
def test_what_is_no_edge_list_is_refused(tmp_path, text, words):
    path = tmp_path / "edges.txt"
    path.write_text(text)
    with pytest.raises(BadModel, match=words):
        read_published_edges(path)
