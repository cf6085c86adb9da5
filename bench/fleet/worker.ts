/** One worker of a fleet, in its own process: executes the commands of the bench. */
import { reasonOf } from '../reason.ts';
import type { Connected } from './clients/client.ts';
import { clients } from './clients/index.ts';
import type { Answer, Command, LoadResult, Numbered } from './job.ts';
import { RunningLoad } from './load.ts';
import { SendLog } from './send-log.ts';

let connected: Connected | undefined;
let running: RunningLoad | undefined;

// Exit together with the bench.
process.on('disconnect', () => process.exit());
process.on('message', async ({ id, command }: Numbered) => {
  try {
    answer({ id, result: await obey(command) });
  } catch (error) {
    answer({ id, error: reasonOf(error) });
  }
});

function answer(message: Answer): void {
  process.send?.(message);
}

async function obey(command: Command): Promise<LoadResult | undefined> {
  switch (command.kind) {
    case 'connect':
      connected = await clients[command.client].connect(command.setup);
      return undefined;
    case 'load': {
      if (connected === undefined) throw new Error('a load needs a client');
      const { load, log, isKillable } = command;
      running = new RunningLoad(connected, load, new SendLog(log, isKillable));
      return undefined;
    }
    case 'stop': {
      const result = await running?.stop();
      running = undefined;
      return result;
    }
    case 'close':
      await connected?.close();
      connected = undefined;
      return undefined;
  }
}
