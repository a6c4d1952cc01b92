import { serverSecrets } from '../config/server-secrets.ts'
import type { Clock } from '../domain/clock.ts'
import { type Logger, silentLogger } from '../domain/logger.ts'
import { spelled } from '../domain/settings/program-words.ts'
import { takesColors } from '../domain/text/takes-colors.ts'
import type { LogTap } from '../http/logging/log-tap.ts'
import { createLogger } from '../http/logging/logger.ts'
import { createTerminalLog, type TerminalLogOptions } from '../http/logging/terminal-log.ts'
import type { LoadedConfig } from './load-config.ts'

interface ServerLogOptions {
  /** At a terminal: show every line, with ids. */
  verbose?: boolean
  /** The page where a person answers what a session waits for. Null while it is unknown. */
  answerUrl?: TerminalLogOptions['answerUrl']
  /** Gets every line too. */
  tap?: LogTap
}

/** What it needs of the process. */
interface LogPlace {
  stderr: { write(text: string): unknown; isTTY?: boolean; columns?: number }
  env: Readonly<Record<string, string | undefined>>
  /** How a person types this program. */
  program(): string
  clock: Pick<Clock, 'now'>
}

/** The server's log. It goes to stderr, because stdout is for what the person asked for. */
export function createServerLog(
  { settings, agents }: Pick<LoadedConfig, 'settings' | 'agents'>,
  io: LogPlace,
  { verbose = false, answerUrl = () => null, tap }: ServerLogOptions = {},
): Logger {
  const { level, format, content } = settings.log
  if (level === 'silent') return silentLogger
  const colors = takesColors(io.stderr, io.env)
  // Text lines in a file are searched later, so all of them are kept.
  const forPerson = format === 'text' && io.stderr.isTTY === true && level !== 'debug' && !verbose
  const width = () => io.stderr.columns || 80
  const spell = (text: string) => spelled(text, io.program())
  return createLogger({
    level,
    format,
    content,
    write: (line) => void io.stderr.write(line),
    now: () => io.clock.now(),
    secrets: serverSecrets({ settings, agents }),
    tap: tap?.take ?? (() => {}),
    colors,
    render: forPerson ? createTerminalLog({ colors, width, answerUrl, spell }) : null,
  })
}
