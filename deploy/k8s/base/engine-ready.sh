#!/bin/sh
# The start-up probe of a runner's engine: it answers and has the images that the runner allows. Those that it lacks are loaded
# from /images, where a component put archives (components/sandbox-archive), and then pulled from their registries.
set -eu
docker version >/dev/null
export DOCKER_CONFIG=/etc/antiphon-registry

lacked() {
  for image in "$ANTIPHON_SANDBOX_IMAGE" $(echo "${ANTIPHON_SANDBOX_ALLOW:-}" | tr ',' ' '); do
    docker image inspect "$image" >/dev/null 2>&1 || echo "$image"
  done
}

[ -n "$(lacked)" ] || exit 0
for archive in /images/*.tar; do
  [ ! -e "$archive" ] || docker load --quiet --input "$archive"
done
for image in $(lacked); do
  docker pull --quiet "$image"
done
