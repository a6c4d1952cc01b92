import type { AgentDefinition, ModelSettings } from '../domain/agent.ts'
import { type Logger, silentLogger } from '../domain/logger.ts'
import { createLogger } from '../http/logger.ts'
import type { Io } from './io.ts'
import type { LoadedConfig } from './load-config.ts'
import { styleFor } from './style.ts'
import { toolSecrets } from './tool-secrets.ts'

/** The server's log goes to stderr: stdout is for what the person asked for. */
export function createServerLog({ settings, agents }: LoadedConfig, io: Io): Logger {
  const { level, format, content } = settings.log
  if (level === 'silent') return silentLogger
  return createLogger({
    level,
    format,
    content,
    write: (line) => void io.stderr.write(line),
    now: () => io.clock.now(),
    secrets: [settings.auth.token, settings.auth.operatorToken, ...agents.flatMap(keysOf)].flatMap((secret) =>
      secret === null || secret === 'none' ? [] : [secret],
    ),
    colors: styleFor(io.stderr, io.env).bold('') !== '',
  })
}

const keysOf = ({ model, judge, tools }: AgentDefinition): string[] => [
  ...modelKeys(model),
  ...(judge === null ? [] : modelKeys(judge)),
  ...tools.flatMap(toolSecrets),
]

const modelKeys = ({ apiKey, fallback }: ModelSettings): string[] => [
  ...(apiKey === undefined ? [] : [apiKey]),
  ...(fallback === undefined ? [] : modelKeys(fallback)),
]
