import { Command } from 'commander'
import { anyOf, wireKinds } from '../../../domain/records/record-kinds.ts'
import { credentialNames } from '../../../operators/credentials/credentials.ts'
import { type CommandContext, unknownCommand } from '../../command.ts'
import type { Io } from '../../terminal/io.ts'

import { type CtlContext, type CtlFlags, orFail, runCtl } from './ctl-server.ts'

/** The commands of the person who commands agents, at a terminal of this machine. Their parts are loaded when they run. */
export function createCtlCommand({ io, settle }: Pick<CommandContext, 'io' | 'settle'>): Command {
  const command = new Command('ctl')
    .summary('command supervised agents from this terminal')
    .description(
      'For the operator at this machine: what agents ask, and the answers. Without a verb it shows what waits, live. It talks to the ' +
        'running server through a socket that only your user can open, with the operator’s token: set QUARTERDECK_OPERATOR_TOKEN, or ' +
        'type it when asked. Decisions ask for your passphrase, which is typed here: agents run as the same user and could use a token ' +
        'that they find, but they do not know what you type.',
    )
    .addHelpText(
      'after',
      `
Ids: the four characters that lists show are enough; so are the start or the end of an id, as long as no other id has them.

Examples:
  $ quarterdeck ctl
  $ quarterdeck ctl list
  $ quarterdeck ctl approve 3f2a
  $ quarterdeck ctl approve 3f2a --remember workspace --match begins
  $ quarterdeck ctl answer 3f2a refine "Leave the tests alone."
  $ quarterdeck ctl answer 81c4 --set size=L --set gift=true
  $ quarterdeck ctl steer "Use the existing logger."
  $ quarterdeck ctl passphrase
  $ quarterdeck ctl credential set slack_bot_token`,
    )

  // Commander calls an action with the arguments, the options and the command.
  const on: On =
    (load) =>
    async (...given: unknown[]) => {
      const verb = await load()
      await runCtl(given.at(-2) as CtlFlags, io, async (context) => {
        const code = await verb(context, ...(given as never[]))
        if (typeof code === 'number') settle(code)
      })
    }
  const list = on(async () => (await import('./list.ts')).list)
  const watch = on(async () => (await import('./watch/watch.ts')).watch)
  addLookingVerbs(command, on)
  addAnswerVerbs(command, on)
  addSessionVerbs(command, on)
  addUpkeepVerbs(command, io, on)
  command.action(async (options: CtlFlags) => {
    const [word] = command.args
    if (word !== undefined) unknownCommand(command, word)
    const isForPerson = io.stdin.isTTY === true && io.stdout.isTTY === true
    await (isForPerson ? watch : list)(options, command)
  })
  return command
}

/** A verb gets what the command line says: its arguments, then its options. It may return an exit code. */
type Verb = (context: CtlContext, ...given: never[]) => Promise<unknown>
type On = (load: () => Promise<Verb>) => (...given: unknown[]) => Promise<void>

const appended = (value: string, before: string[] = []): string[] => [...before, value]

const addForPeople = (parent: Command, name: string, summary: string): Command =>
  parent
    .command(name)
    .description(summary)
    .option(
      '--data-dir <folder>',
      'the data directory of the server (default: the one that serve uses here, or the only one that runs)',
    )

const add = (parent: Command, name: string, summary: string): Command =>
  addForPeople(parent, name, summary).option('--json', 'the server’s answer as JSON')

const inSession = (command: Command): Command =>
  command.option('--session <id>', 'the session, by its short id (default: the only open one)')

const deciding = (command: Command): Command =>
  command.option('--passphrase-fd <number>', 'read the passphrase from this file descriptor')

const filtering = (command: Command): Command =>
  command
    .option('--risk <level>', 'only what is low, high or critical')
    .option('--agent <name>', 'only what this agent asks')
    .option('--folder <text>', 'only of agents in such a folder')
    .option('--text <text>', 'only what has this text in it')

const remembering = (command: Command): Command =>
  command
    .option('--remember <how-far>', 'decide about the like in the same way: session, 15m, workspace or always')
    .option('--match <which>', 'what the like is: its number or kind in what is offered (default: 1, the narrowest)')

function addLookingVerbs(command: Command, on: On): void {
  filtering(add(command, 'list', 'Lists the open sessions and what waits for a person, the most urgent first.'))
    .option('--all', 'also sessions that have ended')
    .action(on(async () => (await import('./list.ts')).list))
  const watch = addForPeople(command, 'watch', 'Shows what waits, live, with keys to answer. Press ? for them.')
  filtering(deciding(watch)).action(on(async () => (await import('./watch/watch.ts')).watch))
  add(command, 'show', 'Shows one record whole, with every hidden character written out.')
    .argument('<id>', `the short id of an ${anyOf([...wireKinds, 'session', 'checkpoint'])}`)
    .action(on(async () => (await import('./list.ts')).show))
}

function addAnswerVerbs(command: Command, on: On): void {
  remembering(deciding(add(command, 'approve', 'Shows an approval whole, asks, and approves it.')))
    .argument('<id>', 'its short id')
    .option('--reason <text>', 'why')
    .option('--force', 'of a change: it may overwrite the file although that has changed meanwhile')
    .option('--digest <digest>', 'for programs: the digest of what a person was shown; nothing is shown or asked here')
    .action(on(async () => (await import('./answer.ts')).approve))
  remembering(deciding(add(command, 'reject', 'Rejects an approval.')))
    .argument('<id>', 'its short id')
    .option('--reason <text>', 'why; the agent is told')
    .action(on(async () => (await import('./answer.ts')).reject))
  deciding(
    add(
      command,
      'edit',
      'Opens what the agent proposes in $EDITOR, shows the difference, asks, and approves your text.',
    ),
  )
    .argument('<id>', 'its short id')
    .action(on(async () => (await import('./edit.ts')).edit))
  deciding(add(command, 'answer', 'Answers what an agent or one of its tools asks or waits for.'))
    .argument('<id>', 'its short id')
    .argument(
      '[answer...]',
      'to an agent: one of the answers that show lists, such as continue, with its text; to a tool: its answer, as text or JSON',
    )
    .option('--set <field=value>', 'to a tool: one field of the answer; repeat it for others', appended)
    .option('--digest <digest>', 'for programs: the digest of what a person was shown; nothing is shown or asked here')
    .action(on(async () => (await import('./answer.ts')).answer))
  inSession(deciding(add(command, 'resume', 'Lets a paused session go on, or tells a waiting agent what to do next.')))
    .argument('[instruction...]', 'what the agent should do')
    .action(on(async () => (await import('./answer.ts')).resume))
  inSession(add(command, 'nudge', 'Wakes a silent agent.'))
    .argument('[text...]', 'what to tell it (default: the configured text)')
    .action(on(async () => (await import('./session-verbs.ts')).nudge))
  deciding(add(command, 'dismiss', 'Says that the silence of an agent is fine.'))
    .argument('<id>', 'the short id of the alert')
    .action(on(async () => (await import('./answer.ts')).dismiss))
}

function addSessionVerbs(command: Command, on: On): void {
  const verbs = () => import('./session-verbs.ts')

  inSession(deciding(add(command, 'mode', 'Shows where the questions of a session appear, or changes it.')))
    .argument('[mode]', 'remote, local or hybrid')
    .action(on(async () => (await verbs()).mode))
  inSession(add(command, 'pause', 'Refuses the calls of an agent until it is resumed.')).action(
    on(async () => (await verbs()).pause),
  )
  inSession(add(command, 'stalls', 'Shows whether the silence of an agent raises alerts, or changes it.'))
    .argument('[switch]', 'on or off')
    .action(on(async () => (await verbs()).stalls))
  inSession(add(command, 'terminate', 'Ends a session. What it has asked is interrupted.'))
    .option('--reason <text>', 'why')
    .option('--yes', 'do not ask')
    .action(on(async () => (await verbs()).terminate))
  deciding(add(command, 'start', 'Starts a coding agent in a workspace.'))
    .argument('<prompt...>', 'what it should do')
    .option('--workspace <folder>', 'where it works: a path, or the id of one of workspaces (default: this folder)')
    .option('--host <name>', 'the host, such as claude (default: host_cli of the settings, or the only one there is)')
    .option('--title <text>', 'a title for lists')
    .action(on(async () => (await verbs()).start))
  inSession(add(command, 'steer', 'Sends an agent a message, with the result of its next call.'))
    .argument('<text...>', 'the message')
    .option('--now', 'wake a hosted agent that rests, so that it gets it at once')
    .action(on(async () => (await verbs()).steer))
  inSession(add(command, 'task', 'Leaves a task for the next session in the same workspace.'))
    .argument('<text...>', 'the task')
    .option('--workspace <id>', 'id or folder of a workspace, where no session has to be open')
    .action(on(async () => (await verbs()).task))
  inSession(deciding(add(command, 'run', 'Runs a command of the settings in the workspace, and prints its output.')))
    .argument('<alias>', 'its name under commands in quarterdeck.yaml')
    .action(on(async () => (await verbs()).run))
  inSession(deciding(add(command, 'handover', 'Gives a session to another operator. For admins.')))
    .argument('<name>', 'the operator, as named in quarterdeck.yaml')
    .action(on(async () => (await verbs()).handover))
}

function addUpkeepVerbs(command: Command, io: Io, on: On): void {
  inSession(add(command, 'checkpoint', 'Keeps the state of a session and the files of its workspace.'))
    .argument('[label...]', 'a name for it')
    .option('--no-contents', 'keep only the hashes: the files can be compared, but not brought back')
    .action(on(async () => (await import('./checkpoints.ts')).checkpoint))
  add(command, 'checkpoints', 'Lists checkpoints, newest first.')
    .option('--session <id>', 'only those of this session, by its short id')
    .action(on(async () => (await import('./checkpoints.ts')).checkpoints))
  deciding(add(command, 'restore', 'Shows what would be lost, asks, and brings the files of a checkpoint back.'))
    .argument('<id>', 'its short id')
    .option('--confirm <digest>', 'for programs: the digest of the loss that a person was shown')
    .action(on(async () => (await import('./checkpoints.ts')).restore))
  const grants = add(command, 'grants', 'Lists what was allowed or refused in advance, with a remembered answer.')
    .option('--agent <name>', 'only of this agent')
    .action(on(async () => (await import('./grants.ts')).grants))
  deciding(add(grants, 'revoke', 'Takes a remembered answer back: the next such call asks again.'))
    .argument('<id>', 'its short id')
    .action(on(async () => (await import('./grants.ts')).revoke))
  const memories = add(command, 'memories', 'Lists what agents keep about users between sessions, the newest first.')
    .option('--owner <name>', 'only about this user (default: about all)')
    .option('--agent <name>', 'only what this agent keeps')
    .action(on(async () => (await import('./memories.ts')).memories))
  deciding(add(memories, 'forget', 'Erases a fact, or everything about a user.'))
    .argument('[id]', 'its id')
    .option('--all', 'everything, of the user that --owner names')
    .option('--owner <name>', 'the user')
    .option('--agent <name>', 'only what this agent keeps')
    .action(on(async () => (await import('./memories.ts')).forget))
  const users = command.command('users').description('Erases users.')
  deciding(add(users, 'erase', 'Erases a user: credentials, schedules, sessions and memories. For admins.'))
    .argument('<name>', 'the exact name')
    .option('--yes', 'do not ask')
    .action(on(async () => (await import('./memories.ts')).eraseUser))
  deciding(add(command, 'policy', 'Lists the policy files that wait for a yes, and what each would allow.'))
    .argument('[id]', 'only this one, by its short id')
    .option('--approve', 'approve it')
    .action(on(async () => (await import('./list.ts')).policy))
  deciding(add(command, 'purge', 'Removes sessions that have been kept long enough, now instead of within the hour.'))
    .option('--dry-run', 'remove nothing, only list what would be removed')
    .action(on(async () => (await import('./session-verbs.ts')).purge))

  command
    .command('passphrase')
    .description('Sets the passphrase for decisions at this machine, or changes it. A change needs the old one.')
    .option(
      '--data-dir <folder>',
      'the data directory (default: .quarterdeck here, or that of the only server that runs; env: QUARTERDECK_DATA_DIR)',
    )
    .option(
      '--passphrase-fd <number>',
      'read it from this file descriptor, one line each: the old one if there is one, the new one',
    )
    .action(async (options: { dataDir?: string; passphraseFd?: string }) => {
      const { setPassphrase } = await import('./typed-secret.ts')
      await orFail(setPassphrase(options, io))
    })

  const credential = command
    .command('credential')
    .summary('keep the secrets of channels in the keychain')
    .description('Keeps the secrets of operator channels in the keychain of the operating system.')
  credential
    .command('set')
    .description('Asks for a credential and keeps it in the keychain, where the server looks before the environment.')
    .argument('<name>', credentialNames.join(', ').replace(/, (\w+)$/, ' or $1'))
    .option('--value-fd <number>', 'read it from this file descriptor')
    .action(async (name: string, options: { valueFd?: string }) => {
      const { setCredential } = await import('./typed-secret.ts')
      await orFail(setCredential(name, options, io))
    })
}
