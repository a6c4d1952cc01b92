import type { Caller } from '../../domain/supervision/decision.ts'
import type { ProcessGroups } from '../../tools/process/process-groups.ts'
import { refuseForeignCommand, viaOf } from '../sessions/may-command.ts'
import { activityEvent, shownIn } from '../sessions/session-events.ts'
import type { SupervisedSessions } from '../sessions/supervised-sessions.ts'
import { about, type SessionParts } from '../sessions/take-step.ts'
import type { WhileWorking } from '../sessions/while-working.ts'
import { type Commands, findCommand } from './resolve-commands.ts'
import { type CommandResult, type OutputPiece, runCommand } from './run-command.ts'

/** Runs the operators' commands in the workspaces of sessions. */
export interface SessionCommands {
  /**
   * Runs the command of this alias and streams its output to the log of the session, if that is open. The agent's silence does not count
   * meanwhile. A caller who leaves does not end it. Throws `command_not_found`, `session_not_found` and `forbidden`.
   */
  run(by: Caller, sessionId: string, alias: string): Promise<CommandResult & { alias: string }>
  close(): Promise<void>
}

interface SessionCommandsDeps extends Pick<SessionParts, 'takeStep' | 'operators' | 'clock' | 'ids' | 'logger'> {
  commands: Commands
  sessions: Pick<SupervisedSessions, 'get'>
  whileWorking: WhileWorking
  processes: ProcessGroups
  /** See `commandEnvironment`. */
  environment: Readonly<Record<string, string>>
}

export function createSessionCommands(deps: SessionCommandsDeps): SessionCommands {
  const { commands, sessions, takeStep, whileWorking, operators, processes, environment, clock, ids, logger } = deps
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()

  /** Writes pieces of output to the session's log, in order. What comes while one is written goes with the next. */
  function createLogger(sessionId: string, runId: string, alias: string) {
    let waiting: OutputPiece[] = []
    let last: Promise<unknown> = Promise.resolve()
    let n = 0

    async function flush(): Promise<void> {
      const pieces = waiting
      if (pieces.length === 0) return
      waiting = []
      n += 1
      const id = `${runId}-${n}`
      await takeStep(sessionId, ({ session, at }) => ({
        events: shownIn(session, activityEvent(id, 'command_output', { command_id: runId, alias, pieces }, at)),
      }))
    }

    return {
      write(piece: OutputPiece): void {
        waiting.push(piece)
        if (waiting.length > 1) return
        last = last.then(flush).catch((error: unknown) => {
          logger.warn('the output of a command could not be logged', { session_id: sessionId, error })
        })
      },
      done: () => last,
    }
  }

  async function run(by: Caller, sessionId: string, alias: string) {
    const command = findCommand(commands, alias)
    const runId = ids.uuid()
    const { session } = await takeStep(sessionId, ({ session, at }) => {
      refuseForeignCommand(operators, by, session.owner)
      return {
        events: shownIn(session, activityEvent(runId, 'command', { alias, argv: [...command.argv], by: by.user }, at)),
        audit: [about(session, at, by.user, { what: 'command', alias, command: runId, ...viaOf(by) })],
      }
    })
    const log = createLogger(sessionId, runId, alias)
    const result = await whileWorking(sessionId, () =>
      runCommand(
        { command, cwd: session.supervision.workspaceRoot, environment },
        { clock, processes, onOutput: log.write, signal: closing.signal },
      ),
    )
    await log.done()
    const { ended, exitCode, signal, durationMs } = result
    const facts = { ended, exit_code: exitCode, signal, duration_ms: durationMs }
    await takeStep(sessionId, ({ session: now, at }) => ({
      events: shownIn(now, activityEvent(`${runId}-end`, 'command_ended', { command_id: runId, alias, ...facts }, at)),
      audit: [about(now, at, by.user, { what: 'command_ended', alias, command: runId, ...facts })],
    }))
    return { alias, ...result }
  }

  return {
    async run(by, sessionId, alias) {
      const { owner } = await sessions.get(sessionId)
      refuseForeignCommand(operators, by, owner)
      const work = run(by, sessionId, alias)
      running.add(work)
      try {
        return await work
      } finally {
        running.delete(work)
      }
    },
    async close() {
      closing.abort()
      await Promise.allSettled(running)
    },
  }
}
