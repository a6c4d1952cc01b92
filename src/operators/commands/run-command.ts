// The way in: a line that an operator typed in a chat, and what to answer.

import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { visibleProse } from '../../domain/text/visible-text.ts'
import { type Answer, type AnswerPart, heading, lines, oneLine, says, text } from './answer.ts'
import { listCheckpoints, restoreCheckpoint, saveCheckpoint } from './checkpoint-verbs.ts'
import type { Asked, CommandContext, CommandServices } from './command-services.ts'
import { showFiles, showOneFile } from './file-verbs.ts'
import { listGrants, revokeGrant } from './grant-verbs.ts'
import { parseCommand } from './parse-command.ts'
import {
  addTask,
  clearSession,
  listInbox,
  listSessions,
  pauseSession,
  resumeSession,
  runAlias,
  startSession,
  steer,
  switchStalls,
} from './session-verbs.ts'
import { aliasSpec, type Category, categories, isVerb, type Verb, type VerbSpec, verbs } from './verbs.ts'

const handlers: Readonly<Record<Verb, (services: CommandServices, asked: Asked) => Promise<Answer>>> = {
  help,
  sessions: listSessions,
  inbox: listInbox,
  grants: listGrants,
  revoke: revokeGrant,
  'session-start': startSession,
  'session-clear': clearSession,
  'session-pause': pauseSession,
  'session-resume': resumeSession,
  'session-stalls': switchStalls,
  'session-checkpoint': saveCheckpoint,
  'session-checkpoints': listCheckpoints,
  'session-restore': restoreCheckpoint,
  'list-files': showFiles,
  'show-file': showOneFile,
  steer,
  task: addTask,
}

/**
 * Runs one command. `by` is a person whom the channel has recognised; what they may do is decided by the functions that do it. Never
 * rejects: a refusal is an answer with its code.
 */
export async function runCommand(
  services: CommandServices,
  by: Caller,
  context: CommandContext,
  line: string,
): Promise<Answer> {
  try {
    if (by.role !== 'operator') {
      throw new ServerError('forbidden', 'Only operators may give commands. quarterdeck.yaml names them: operators.')
    }
    const command = parseCommand(line, services.aliases)
    const handle = command.verb === null ? runAlias : handlers[command.verb]
    return await handle(services, { by, context, command })
  } catch (error) {
    return refusal(error, services.logger)
  }
}

function refusal(error: unknown, logger: Logger): Answer {
  if (!(error instanceof ServerError)) {
    logger.error('a command of a chat failed', { error })
    return { ...says('Something went wrong here. The log of the server says what.'), error: 'internal_error' }
  }
  const { candidates } = error.details
  const listed = Array.isArray(candidates) ? candidates.filter((one) => typeof one === 'string') : []
  return {
    parts: [text(visibleProse(error.message)), ...(listed.length === 0 ? [] : [lines(listed)])],
    error: error.code,
  }
}

/** Everything, one category, or one command. */
async function help({ aliases }: Pick<CommandServices, 'aliases'>, { command }: Asked): Promise<Answer> {
  const [asked] = command.words
  const wanted = asked?.toLowerCase()
  if (wanted === undefined) {
    const all = categoryNames.flatMap((one) => [heading(`${categories[one]} (${one})`), lines(usages(one, aliases))])
    return { parts: [...all, text(`More about one of them: help CATEGORY or help COMMAND. ${SESSIONS}`)] }
  }
  // `sessions` is both.
  if (isCategory(wanted)) return { parts: [...explained(wanted, aliases), text(SESSIONS)] }
  if (isVerb(wanted)) return { parts: [lines([lineOf(verbs[wanted])])] }
  if (aliases.includes(wanted)) return { parts: [lines([aliasLine(wanted)])] }
  const near = didYouMean(wanted, [...categoryNames, ...Object.keys(verbs), ...aliases])
  throw new ServerError(
    'invalid_request',
    `There is no help about ${JSON.stringify(oneLine(wanted, 64))}.${near === null ? '' : ` Did you mean ${near}?`} The categories are ${categoryNames.join(', ')}.`,
  )
}

const SESSIONS =
  'Most commands are about one session: the only open one of this channel, or the one that the first word or --session ID names, with the four characters that sessions shows.'

const isCategory = (name: string): name is Category => Object.hasOwn(categories, name)
const categoryNames = Object.keys(categories).filter(isCategory)

const specsOf = (category: Category): VerbSpec[] => Object.values(verbs).filter((one) => one.category === category)

const usages = (category: Category, aliases: readonly string[]): string[] => [
  ...specsOf(category).map(({ usage }) => usage),
  ...(category === 'commands' ? aliases : []),
]

const explained = (category: Category, aliases: readonly string[]): AnswerPart[] => [
  heading(categories[category]),
  lines([...specsOf(category).map(lineOf), ...(category === 'commands' ? aliases.map(aliasLine) : [])]),
  ...(category === 'commands' && aliases.length === 0
    ? [text('No commands are configured: add some under commands in quarterdeck.yaml.')]
    : []),
]

const lineOf = ({ usage, does }: VerbSpec): string => `${usage}: ${does}`
const aliasLine = (alias: string): string => lineOf({ ...aliasSpec, usage: alias })
