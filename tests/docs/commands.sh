# What the commands of the documentation mean in its tests: nothing is installed, servers run in the background
# until the script ends, and the first failure ends it.
set -eo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true; wait' EXIT

git() { :; }
npm() { :; }
docker() { :; }
claude() { :; }
pytest() { :; }
pip() { :; }
python3() {
    if [ "$1 $2" = "-m venv" ]; then
        mkdir -p "$3/bin" && touch "$3/bin/activate"
    else
        command python3 "$@"
    fi
}
python() {
    case "$1 $2" in
    "-m demo_apps" | "-m tests.benchmarks") ;;
    *) command python "$@" ;;
    esac
}

# Starts a server and waits for its port: background PORT COMMAND...
background() {
    local port=$1
    shift
    "$@" >>"servers.log" 2>&1 </dev/null &
    for _ in $(seq 600); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return; fi
        sleep 0.1
    done
    cat servers.log
    return 1
}
faqsvc() {
    case "$1" in
    serve) background "$SERVICE_PORT" command faqsvc "$@" --port "$SERVICE_PORT" ;;
    mcp) command faqsvc mcp </dev/null ;;
    edit) ;;
    *) command faqsvc "$@" ;;
    esac
}
flask() {
    case "$*" in
    *run*) background "$FLASK_RUN_PORT" command flask "$@" ;;
    *) command flask "$@" ;;
    esac
}
uvicorn() { background "$UVICORN_PORT" command uvicorn "$@"; }
gunicorn() { background "$UVICORN_PORT" command gunicorn --bind "127.0.0.1:$UVICORN_PORT" "$@"; }
