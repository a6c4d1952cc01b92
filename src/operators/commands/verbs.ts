// The commands that an operator types in a chat. Help, parsing and the names that no alias may have come from this one table.

export const categories = {
  sessions: 'Sessions of agents',
  checkpoints: 'Checkpoints, and the way back to one',
  files: 'Files of a workspace',
  agent: 'Words for an agent',
  commands: 'Commands of quarterdeck.yaml',
} as const

export type Category = keyof typeof categories

export interface VerbSpec {
  category: Category
  usage: string
  does: string
  /** Options that have a value. */
  options: readonly string[]
  /** `text`: everything that is not an option is one text, quotes and all. */
  takes: 'words' | 'text'
}

type Row = [category: Category, usage: string, does: string, options?: readonly string[]]

const words = (...[category, usage, does, options = ['session']]: Row): VerbSpec => ({
  category,
  usage,
  does,
  options,
  takes: 'words',
})
const text = (...row: Row): VerbSpec => ({ ...words(...row), takes: 'text' })

export const verbs = {
  sessions: words('sessions', 'sessions', 'Lists the sessions of this channel.', []),
  inbox: words('sessions', 'inbox', 'Lists what waits for an answer in this channel, the most urgent first.', []),
  grants: words('sessions', 'grants', 'Lists the answers that are remembered for the agents of this channel.', []),
  revoke: words('sessions', 'revoke ID', 'Takes a remembered answer back: the next such call asks again.', []),
  'session-start': text(
    'sessions',
    'session-start PROMPT [--workspace ID] [--host NAME]',
    'Starts an agent. Without --workspace it works in the one that belongs to this channel.',
    ['workspace', 'host'],
  ),
  'session-clear': words('sessions', 'session-clear [ID]', 'Ends a session. What its agent has asked is interrupted.'),
  'session-pause': words(
    'sessions',
    'session-pause [ID]',
    'Refuses the calls of an agent until it is resumed. Its process goes on.',
  ),
  'session-resume': words('sessions', 'session-resume [ID]', 'Lets a paused agent go on.'),
  'session-stalls': words(
    'sessions',
    'session-stalls [ID] on|off',
    'Switches alerts about the silence of one agent off, or on again.',
  ),
  'session-checkpoint': text(
    'checkpoints',
    'session-checkpoint [LABEL]',
    'Keeps the files of the workspace as they are now.',
  ),
  'session-checkpoints': words(
    'checkpoints',
    'session-checkpoints [ID]',
    'Lists checkpoints, newest first: of one session, or of all in this channel.',
  ),
  'session-restore': words(
    'checkpoints',
    'session-restore CHECKPOINT',
    'Shows what would change, asks, and brings the files of a checkpoint back.',
    ['confirm'],
  ),
  'list-files': words(
    'files',
    'list-files [PATH] [--depth 3] [--workspace ID]',
    'Lists the files of the workspace, without those that .gitignore excludes.',
    ['depth', 'session', 'workspace'],
  ),
  'show-file': words(
    'files',
    'show-file PATH [--lines A:B] [--workspace ID]',
    'Shows a file, or some of its lines. Files that usually hold secrets are not shown.',
    ['lines', 'session', 'workspace'],
  ),
  steer: text('agent', 'steer TEXT', 'Sends the agent a message, with the result of its next call.'),
  task: text(
    'agent',
    'task TEXT [--workspace ID]',
    'Leaves a task for your next session in a workspace. None has to run.',
    ['session', 'workspace'],
  ),
  help: words('commands', 'help [CATEGORY]', 'Explains the commands.', []),
}

export type Verb = keyof typeof verbs

export const isVerb = (name: string): name is Verb => Object.hasOwn(verbs, name)

/** How an alias of the settings is typed. */
export const aliasSpec = words(
  'commands',
  'ALIAS [--workspace ID]',
  'Runs this command of quarterdeck.yaml in the workspace.',
  ['session', 'workspace'],
)

/** What `quarterdeck ctl` has words for. */
const CTL_VERBS =
  'list watch show approve reject edit answer resume nudge dismiss mode pause stalls terminate start checkpoint checkpoints restore steer task run grants memories users policy handover purge credential passphrase'.split(
    ' ',
  )

/** Words of our own. An alias must be none of them. */
export const reservedVerbs: ReadonlySet<string> = new Set([...CTL_VERBS, ...Object.keys(verbs)])
