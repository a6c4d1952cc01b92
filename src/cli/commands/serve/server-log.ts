import { type Logger, silentLogger } from '../../../domain/logger.ts'
import type { LogTap } from '../../../http/logging/log-tap.ts'
import { createLogger } from '../../../http/logging/logger.ts'
import type { LoadedConfig } from '../../load-config.ts'
import { spelled } from '../../program-name.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { createTerminalLog, type TerminalLogOptions } from '../../terminal/terminal-log.ts'
import { serverSecrets } from './server-secrets.ts'

interface ServerLogOptions {
  /** At a terminal: show every line, with ids. */
  verbose?: boolean
  /** The page where a person answers what a session waits for. Null while it is unknown. */
  answerUrl?: TerminalLogOptions['answerUrl']
  /** Gets every line too. */
  tap?: LogTap
}

/** The server's log. It goes to stderr, because stdout is for what the person asked for. */
export function createServerLog(
  { settings, agents }: LoadedConfig,
  io: Pick<Io, 'stderr' | 'env' | 'clock' | 'program'>,
  { verbose = false, answerUrl = () => null, tap }: ServerLogOptions = {},
): Logger {
  const { level, format, content } = settings.log
  if (level === 'silent') return silentLogger
  const style = styleFor(io.stderr, io.env)
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
    colors: style.bold('') !== '',
    render: forPerson ? createTerminalLog({ style, width, answerUrl, spell }) : null,
  })
}
