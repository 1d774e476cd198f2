"""pip's own resolution for another Python and platform than this one. Arguments: its version, its machine, then those of pip."""
import sys
import pip._vendor.packaging.markers as markers
from pip._internal.cli.main import main

version, machine, *arguments = sys.argv[1:]
here = markers.default_environment()


def there():
    """Without this, pip would judge the conditions of requirements by the Python that runs it."""
    return {
        **here,
        "implementation_version": version + ".0",
        "os_name": "posix",
        "platform_machine": machine,
        "platform_system": "Linux",
        "python_full_version": version + ".0",
        "python_version": version,
        "sys_platform": "linux",
    }


markers.default_environment = there
sys.exit(main(arguments))
