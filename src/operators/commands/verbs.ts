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
  /** `text`: everything that is no option is one text, quotes and all. */
  takes: 'words' | 'text'
}

const words = { takes: 'words', options: ['session'] } as const
const text = { takes: 'text', options: ['session'] } as const

export const verbs = {
  sessions: {
    ...{ ...words, options: [], category: 'sessions', usage: 'sessions' },
    does: 'Lists the sessions of this channel.',
  },
  inbox: {
    ...{ ...words, options: [], category: 'sessions', usage: 'inbox' },
    does: 'Lists what waits for an answer in this channel.',
  },
  'session-start': {
    ...{ ...text, options: ['workspace', 'host'], category: 'sessions' },
    usage: 'session-start PROMPT [--workspace ID] [--host NAME]',
    does: 'Starts an agent. Without --workspace it works in the one that belongs to this channel.',
  },
  'session-clear': {
    ...{ ...words, category: 'sessions', usage: 'session-clear [ID]' },
    does: 'Ends a session. What its agent has asked is interrupted.',
  },
  'session-pause': {
    ...{ ...words, category: 'sessions', usage: 'session-pause [ID]' },
    does: 'Refuses the calls of an agent until it is resumed. Its process goes on.',
  },
  'session-resume': {
    ...{ ...words, category: 'sessions', usage: 'session-resume [ID]' },
    does: 'Lets a paused agent go on.',
  },
  'session-stalls': {
    ...{ ...words, category: 'sessions', usage: 'session-stalls [ID] on|off' },
    does: 'Switches alerts about the silence of one agent off, or on again.',
  },
  'session-checkpoint': {
    ...{ ...text, category: 'checkpoints', usage: 'session-checkpoint [LABEL]' },
    does: 'Keeps the files of the workspace as they are now.',
  },
  'session-checkpoints': {
    ...{ ...words, category: 'checkpoints', usage: 'session-checkpoints [ID]' },
    does: 'Lists checkpoints, newest first: of one session, or of all in this channel.',
  },
  'session-restore': {
    ...{ ...words, options: ['confirm'], category: 'checkpoints', usage: 'session-restore CHECKPOINT' },
    does: 'Shows what would change, asks, and brings the files of a checkpoint back.',
  },
  'list-files': {
    ...{
      ...words,
      options: ['depth', 'session', 'workspace'],
      category: 'files',
      usage: 'list-files [PATH] [--depth 3] [--workspace ID]',
    },
    does: 'Lists the files of the workspace, without those that .gitignore excludes.',
  },
  'show-file': {
    ...{
      ...words,
      options: ['lines', 'session', 'workspace'],
      category: 'files',
      usage: 'show-file PATH [--lines A:B] [--workspace ID]',
    },
    does: 'Shows a file, or some of its lines. Files that usually hold secrets are not shown.',
  },
  steer: {
    ...{ ...text, category: 'agent', usage: 'steer TEXT' },
    does: 'Sends the agent a message, with the result of its next call.',
  },
  task: {
    ...{ ...text, options: ['session', 'workspace'], category: 'agent', usage: 'task TEXT [--workspace ID]' },
    does: 'Leaves a task for your next session in a workspace. None has to run.',
  },
  help: {
    ...{ ...words, options: [], category: 'commands', usage: 'help [CATEGORY]' },
    does: 'Explains the commands.',
  },
} as const satisfies Record<string, VerbSpec>

export type Verb = keyof typeof verbs

export const isVerb = (name: string): name is Verb => Object.hasOwn(verbs, name)

/** How an alias of the settings is typed. */
export const aliasSpec: VerbSpec = {
  ...{ ...words, options: ['session', 'workspace'], category: 'commands', usage: 'ALIAS [--workspace ID]' },
  does: 'Runs this command of quarterdeck.yaml in the workspace.',
}

/** What `quarterdeck ctl` has words for. */
const CTL_VERBS = [
  ...[
    'list',
    'watch',
    'show',
    'approve',
    'reject',
    'edit',
    'answer',
    'resume',
    'nudge',
    'dismiss',
    'mode',
    'pause',
    'stalls',
  ],
  ...['terminate', 'start', 'checkpoint', 'checkpoints', 'restore', 'steer', 'task', 'run', 'policy', 'handover'],
  ...['purge', 'credential', 'passphrase'],
]

/** Words of our own. An alias must be none of them. */
export const reservedVerbs: ReadonlySet<string> = new Set([...CTL_VERBS, ...Object.keys(verbs)])
