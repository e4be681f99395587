#!/usr/bin/env python3
"""What soak_bench.py lets pass: a flat week, and none in which something grew."""
import copy
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import soak_bench  # noqa: E402

FLAT = json.loads((pathlib.Path(__file__).parent / "results/soak.json").read_text())


class SoakGate(unittest.TestCase):
    def faults(self, change):
        result = copy.deepcopy(FLAT)
        change(result)
        return "\n".join(soak_bench.faults_of(result))

    def test_the_recorded_week_is_flat(self):
        self.assertEqual(soak_bench.faults_of(FLAT), [])

    def test_each_figure_may_not_grow(self):
        for name, factor in [("resident_kib", 1.08), ("anonymous_kib", 1.2), ("descriptors", 1.3), ("threads", 1.2), ("state_kib", 1.15),
                             ("store_kib", 1.2), ("store_log_kib", 1.4), ("trajectories_kib", 1.15)]:
            def grow(result, name=name, factor=factor):
                result["by_day"][-1][name] = result["by_day"][4][name] * factor
            self.assertIn(name + " grew", self.faults(grow))

    def test_what_is_no_week(self):
        self.assertIn("too few", self.faults(lambda r: r.update(by_day=r["by_day"][:5])))
        self.assertIn("exit code 9", self.faults(lambda r: r.update(exit_code=9)))
        self.assertIn("GitHub was sent", self.faults(lambda r: r["forge"].update(violations=["POST /x"])))
        self.assertIn("job_finished: 3 of 28", self.faults(lambda r: r["counts"].update(job_finished=3)))
        self.assertIn("night_finished: 2 of 14", self.faults(lambda r: r["counts"].update(night_finished=2)))
        self.assertIn("17 working trees", self.faults(lambda r: r["by_day"][-1].update(trees=17)))


if __name__ == "__main__":
    unittest.main()
