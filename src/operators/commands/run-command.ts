// The way in: a line that an operator typed in a chat, and what to answer.

import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { visibleProse } from '../../domain/text/visible-text.ts'
import { type Answer, lines, says, text } from './answer.ts'
import { listCheckpoints, restoreCheckpoint, saveCheckpoint } from './checkpoint-verbs.ts'
import type { Asked, CommandContext, CommandDesk } from './command-desk.ts'
import { showFiles, showOneFile } from './file-verbs.ts'
import { help } from './help.ts'
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
import type { Verb } from './verbs.ts'

const handlers: Readonly<Record<Verb, (desk: CommandDesk, asked: Asked) => Promise<Answer>>> = {
  help,
  sessions: listSessions,
  inbox: listInbox,
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
  desk: CommandDesk,
  by: Caller,
  context: CommandContext,
  line: string,
): Promise<Answer> {
  try {
    if (by.role !== 'operator') {
      throw new ServerError('forbidden', 'Only operators may give commands. quarterdeck.yaml names them: operators.')
    }
    const command = parseCommand(line, desk.aliases)
    const handle = command.verb === null ? runAlias : handlers[command.verb]
    return await handle(desk, { by, context, command })
  } catch (error) {
    return refusal(error, desk.logger)
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
