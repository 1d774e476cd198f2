"""mini-SWE-agent, with an agent that goes on: `--agent-class __main__.GoingOn`. mini 2.4.6 itself begins each time anew.

Its trajectory holds the whole conversation. Without the end that mini has put behind it, that conversation comes before the prompt.
"""

import json
import sys

import minisweagent
from minisweagent.agents.interactive import InteractiveAgent
from minisweagent.run.mini import app


class GoingOn(InteractiveAgent):
    def run(self, task="", **kwargs):
        before = json.loads(self.config.output_path.read_text())
        self._before = [message for message in before["messages"] if message.get("role") != "exit"]
        self._task = task
        self.n_calls = before["info"]["model_stats"]["api_calls"]
        self.cost = before["info"]["model_stats"]["instance_cost"]
        return super().run(task, **kwargs)

    def add_messages(self, *messages):
        # The first are those with which every conversation begins.
        if self._before is not None:
            self.messages, self._before = self._before, None
            messages = [self.model.format_message(role="user", content=self._task)]
        return super().add_messages(*messages)


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(minisweagent.__version__)
    else:
        app()
