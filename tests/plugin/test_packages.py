"""What butlerctl knows of the plugin's package is what npm installs for its lock."""

from __future__ import annotations

from butlerctl.gateway.plugin import Package, locked_packages, read_plugin, shipped_plugin


def test_the_digest_of_each_locked_package_is_that_of_its_archive(plugin_folder):
    locked = {
        name: Package(each.version, each.digest) for name, each in locked_packages(shipped_plugin()).items()
    }
    assert list(locked) == ["typebox"]
    assert read_plugin(plugin_folder).packages == locked
