"""What runs the shards, made from the file that names them: settings, workspaces, compose, Kubernetes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import jinja2
import yaml

from pipelines.settings.messages import SettingsError, variable
from pipelines.shards.shards import Shard, Shards

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = Path(__file__).with_name("kubernetes")
MARK = "# Made by `brokerbi shards render`: change the file that names the shards, and render again.\n"
RUNS_OF_A_SHARD, RUNS_OF_A_BACKFILL = 3, 2
CONNECTIONS_OF_A_RUN, CONNECTIONS_OF_A_SHARD, OTHER_CONNECTIONS = 15, 5, 30
"""Of PostgreSQL, at most: docs/scale.md has what was measured."""
IN_CONTAINERS = Path("/var/lib/brokerbi/data")


def environment(shard: Shard, shards: Shards, *, secrets: Path | None, data_dir: Path) -> dict[str, str]:
    """The variables of a shard: its own, those for all, and in which files the passwords are.

    Without a folder of secrets it has no login, for what asks the service nothing.
    """
    login = shards.login.get(shard.login)
    customers = [
        {
            "id": one.id,
            **({"name": one.name} if one.name else {}),
            **({"region": one.region} if one.region else {}),
            **(
                {
                    "username": shards.login[one.login].username,
                    "password_file": str(secrets / f"login_{one.login}"),
                }
                if secrets and one.login and one.login != shard.login
                else {}
            ),
        }
        for one in shard.customers
    ]
    own = {
        "shard": shard.name,
        "data_dir": str(data_dir),
        "customers": _quotable(json.dumps(customers, ensure_ascii=False)),
        "requests_per_second": f"{shard.requests_per_second:g}",
        "concurrency": str(shard.concurrency),
    }
    if login and secrets:
        own |= {"username": login.username, "password_file": str(secrets / f"login_{shard.login}")}
    if secrets:
        for function, name in shard.login_for.items():
            own[f"login__{function}__username"] = shards.login[name].username
            own[f"login__{function}__password_file"] = str(secrets / f"login_{name}")
    if shards.coordination and secrets:
        own["coordination_url_file"] = str(secrets / "coordination_url")
    for name, value in shards.settings.items():
        own[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return {variable(name): value for name, value in own.items()}


def _quotable(text: str) -> str:
    """JSON without a sign that a shell, systemd or compose would read as its own."""
    for sign in "'$%":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def rendered(shards: Shards) -> dict[str, str]:
    """The content of every file that is made, by its path; the same for the same file of shards."""
    instance = _instance(len(shards.shard))
    files = {
        "hosts/workspace.yaml": _yaml(_workspace({one.name: (one.host, one.port) for one in shards.shard})),
        "hosts/dagster.yaml": _yaml(instance),
        "compose/workspace.yaml": _yaml(
            _workspace({one.name: (f"code-{one.name}", 4000) for one in shards.shard})
        ),
        "compose/dagster.yaml": _yaml(instance),
        "compose/compose.yaml": _yaml(_compose(shards)),
    }
    for one in shards.shard:
        variables = environment(one, shards, secrets=Path("/etc/brokerbi"), data_dir=one.data_dir)
        files[f"hosts/{one.name}.env"] = "".join(f"{name}='{value}'\n" for name, value in variables.items())
    of_cluster = {one.name: (f"brokerbi-{_dns(one)}", 4000) for one in shards.shard}
    common: dict[str, Any] = {
        "image": shards.image,
        "postgres_image": shards.postgres_image,
        "connections": _connections(len(shards.shard)),
        "instance": _yaml(instance),
        "workspace": _yaml(_workspace(of_cluster)),
        "coordination": shards.coordination,
    }
    for name in ("dagster", "postgres", "network"):
        files[f"kubernetes/{name}.yaml"] = _from_template(f"{name}.yaml", common)
    for one in shards.shard:
        words = {
            "shard": one,
            "dns": _dns(one),
            "logins": sorted(one.logins()),
            "environment": environment(one, shards, secrets=Path("/run/secrets"), data_dir=IN_CONTAINERS),
        }
        files[f"kubernetes/shard-{_dns(one)}.yaml"] = _from_template("shard.yaml", common | words)
    return {name: MARK + content for name, content in files.items()}


def render(shards: Shards, folder: Path) -> list[Path]:
    """Write these files below a folder, and remove those of shards that are no more; what was changed.

    Raises SettingsError, and changes nothing, where a file that somebody else wrote stands in the way.
    """
    wanted = {folder / name: content for name, content in rendered(shards).items()}
    held = {path: path.read_text(encoding="utf-8") for path in wanted if path.exists()}
    foreign = [path for path, content in held.items() if not content.startswith(MARK)]
    if foreign:
        raise SettingsError(
            [f"{path} was not made by `brokerbi shards render`; put it aside first." for path in foreign]
        )
    changed = [path for path, content in wanted.items() if held.get(path) != content]
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
    for kind in ("hosts", "compose", "kubernetes"):
        for path in sorted((folder / kind).glob("*")):
            if path not in wanted and path.read_text(encoding="utf-8").startswith(MARK):
                path.unlink()
                changed.append(path)
    return changed


def _dns(shard: Shard) -> str:
    return shard.name.replace("_", "-")


class _Plain(yaml.SafeDumper):  # type: ignore[misc]
    """Writes what is there twice twice, and not as a reference to the first."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _yaml(value: object) -> str:
    return str(yaml.dump(value, Dumper=_Plain, sort_keys=False, width=110, allow_unicode=True))


def _base(name: str) -> Any:
    """A file of the checkout that what is made begins with."""
    try:
        return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError([f"{ROOT / name} is missing; render from a checkout of the project."]) from None


def _workspace(places: Mapping[str, tuple[str, int]]) -> dict[str, object]:
    """Dagster's list of code locations, each named after its shard, as `assets/project.py` counts on."""
    return {
        "load_from": [
            {"grpc_server": {"host": host, "port": port, "location_name": name}}
            for name, (host, port) in places.items()
        ]
    }


def _instance(number: int) -> dict[str, Any]:
    """Dagster's settings: those of one machine, with its history in PostgreSQL and limits for each shard."""
    settings: dict[str, Any] = _base("dagster.yaml") | _base("deploy/container/storage.yaml")
    each: dict[str, bool] = {"applyLimitPerUniqueValue": True}
    settings["concurrency"]["runs"] = {
        "max_concurrent_runs": RUNS_OF_A_SHARD * number,
        "tag_concurrency_limits": [
            {"key": "brokerbi/shard", "value": dict(each), "limit": RUNS_OF_A_SHARD},
            {"key": "dagster/backfill", "value": dict(each), "limit": RUNS_OF_A_BACKFILL},
        ],
    }
    coordinator = {"module": "assets.run_coordinator", "class": "ShardRunCoordinator"}
    settings["run_coordinator"] = {**coordinator, "config": settings.pop("run_queue")}
    return settings


def _connections(shards: int) -> int:
    of_runs = shards * RUNS_OF_A_SHARD * CONNECTIONS_OF_A_RUN
    return max(100, of_runs + shards * CONNECTIONS_OF_A_SHARD + OTHER_CONNECTIONS)


def _compose(shards: Shards) -> dict[str, Any]:
    """The compose file of one machine, with a container and a volume of code for each shard."""
    base: dict[str, Any] = {
        name: value for name, value in _base("deploy/container/compose.yaml").items() if name[:2] != "x-"
    }
    services, volumes = base["services"], base["volumes"]
    code = services.pop("code")
    code.pop("build")  # of the image, deploy/container has the recipe
    for name, service in services.items():
        service["image"] = shards.postgres_image if name == "postgres" else shards.image
    code["image"] = shards.image
    volumes.pop("data")
    base["secrets"] = {"postgres_password": base["secrets"]["postgres_password"]}
    base["configs"] = {name: {"file": f"./{name}.yaml"} for name in ("dagster", "workspace")}
    mounted = [{"source": name, "target": f"/opt/dagster/{name}.yaml"} for name in base["configs"]]
    secrets = ["postgres_password", *(["coordination_url"] if shards.coordination else [])]
    if shards.coordination:
        base["secrets"]["coordination_url"] = {"file": "./secrets/coordination_url"}
    for shard in shards.shard:
        one = deepcopy(code)
        of_dagster = {
            name: value for name, value in code["environment"].items() if name.startswith("DAGSTER")
        }
        own = environment(shard, shards, secrets=Path("/run/secrets"), data_dir=IN_CONTAINERS)
        one["environment"] = of_dagster | own
        one["command"][-1] = shard.name
        one["env_file"] = [{"path": f"{shard.name}.env", "required": False}]
        one["configs"] = mounted[:1]
        one["secrets"] = [*secrets, *(f"login_{login}" for login in sorted(shard.logins()))]
        one["volumes"] = ["logs:/opt/dagster/storage", f"data-{shard.name}:{IN_CONTAINERS}"]
        volumes[f"data-{shard.name}"] = None
        base["secrets"] |= {
            f"login_{one}": {"file": f"./secrets/login_{one}"} for one in sorted(shard.logins())
        }
        services[f"code-{shard.name}"] = one
    services["postgres"]["command"] = ["postgres", "-c", f"max_connections={_connections(len(shards.shard))}"]
    for name in ("daemon", "webserver"):
        services[name]["configs"] = mounted
        services[name]["depends_on"] = {
            f"code-{one.name}": {"condition": "service_healthy"} for one in shards.shard
        }
    return base


def _from_template(name: str, words: Mapping[str, Any]) -> str:
    loader = jinja2.FileSystemLoader(TEMPLATES)
    made = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)  # noqa: S701 YAML
    made.filters["tojson"] = json.dumps  # Jinja's own is meant for HTML
    return made.get_template(name).render(words)
