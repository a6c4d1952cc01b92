import { Command } from 'commander'
import { type CommandContext, examples } from '../../command.ts'
import { type CtlContext, type CtlFlags, runCtl } from '../ctl/ctl-server.ts'
import type { AddFlags } from './verbs.ts'

/** The schedules of the running server. Their verbs are loaded when they run. */
export function createSchedulesCommand({ io }: CommandContext): Command {
  const command = new Command('schedules')
    .summary('what agents are told by themselves, and when')
    .description(
      'Lists, makes and pauses schedules of the running server. It is reached as by quarterdeck ctl: through its local socket, with the ' +
        'operator’s token in QUARTERDECK_OPERATOR_TOKEN, and with your passphrase for what changes something.',
    )
    .addHelpText(
      'after',
      examples(
        'schedules list',
        'schedules add clerk morning-report "Write the report." --cron "0 8 * * 1-5" --time-zone Europe/Berlin',
        'schedules run clerk.morning-report',
      ),
    )
  const verbs = () => import('./verbs.ts')
  type Verbs = Awaited<ReturnType<typeof verbs>>

  const verb = (name: string, description: string): Command =>
    command
      .command(name)
      .description(description)
      .option('--data-dir <folder>', 'the data directory of the server (default: as quarterdeck ctl finds it)')
      .option('--json', 'the server’s answer as JSON')
  const changing = (name: string, description: string): Command =>
    verb(name, description).option('--passphrase-fd <number>', 'read the passphrase from this open file descriptor')
  const does = (work: (context: CtlContext, all: Verbs) => Promise<void>, options: CtlFlags): Promise<void> =>
    runCtl(options, io, async (context) => work(context, await verbs()))

  verb('list', 'Lists the schedules, with what comes next and what came last.').action((options: CtlFlags) =>
    does((context, { list }) => list(context), options),
  )
  changing('add', 'Makes a schedule. One of --cron, --every and --at says when.')
    .argument('<agent>', 'the agent that is told it')
    .argument('<name>', 'names it among those of the agent')
    .argument('<message>', 'what it is told')
    .option('--cron <expression>', 'minute, hour, day, month and weekday: "0 8 * * 1-5"')
    .option('--time-zone <zone>', 'of --cron, such as Europe/Berlin (default: UTC)')
    .option('--every <time>', 'how much time lies between two runs: 30m, 1h')
    .option('--at <time>', 'one single time: 2026-12-01T09:00:00Z')
    .option('--session <name>', 'one session for all runs (default: each has a new one)')
    .option('--until <time>', 'no run is started after this time')
    .option('--count <number>', 'how many runs in all')
    .option('--missed <what>', 'what becomes of times at which no server ran: skip or once', 'skip')
    .option('--jitter <time>', 'delays each run by the same part of this time: 5m')
    .option('--notify <channels...>', 'channels that are told the results: slack:C0123ABCD webhook:pager')
    .action((agent: string, name: string, message: string, options: CtlFlags & AddFlags) =>
      does((context, { add }) => add(context, { agent, name, message }, options), options),
    )
  const one = (command: Command, work: (all: Verbs) => Verbs['run']): Command =>
    command
      .argument('<id>', 'agent and name: clerk.morning-report')
      .action((id: string, options: CtlFlags) => does((context, all) => work(all)(context, id), options))
  one(verb('history', 'Shows what became of its last 50 times.'), ({ history }) => history)
  one(changing('pause', 'Nothing is due until it is resumed.'), ({ pause }) => pause)
  one(changing('resume', 'Lets it go on. What would have been due meanwhile is not missed.'), ({ resume }) => resume)
  one(changing('run', 'Starts a run now, beside its times.'), ({ run }) => run)
  one(changing('remove', 'Removes one that is in no agent file. Its sessions stay.'), ({ remove }) => remove)
  return command
}
