import { z } from 'zod'
import type { Logger } from '../../../domain/logger.ts'
import type { KeptKind } from '../../../store/ports/shared.ts'
import { deviceFormat } from '../console/devices.ts'
import { passkeyFormat } from '../console/passkeys.ts'
import { tokenFormat } from '../tokens/token-rows.ts'
import type { ConfigFileOptions } from './config-file.ts'
import { createRecordFile, type RecordFormat } from './record-file.ts'
import { createSecretFiles, SECRET } from './secrets.ts'

const AgentVersionSchema = z.looseObject({ digest: z.string(), expires_at: z.number() })

/** What agents have sent: see `engine/loop/agent-version.ts`. */
const agentVersionFormat: RecordFormat<z.output<typeof AgentVersionSchema>> = {
  name: 'agent-versions',
  schema: AgentVersionSchema,
  maxBytes: 64_000_000,
  keyOf: ({ digest }) => digest,
  expiresAt: ({ expires_at }) => expires_at,
  unusable: (path, why) => `The file of what agents have sent ${path} cannot be used: ${why}. Remove it.`,
  damaged: () => 'it is damaged',
}

const SignInSchema = z.looseObject({ key: z.string() })

/** Tokens of MCP servers: see `tools/mcp/auth/sign-ins.ts`. */
const signInFormat: RecordFormat<z.output<typeof SignInSchema>> = {
  name: 'mcp-sign-ins',
  schema: SignInSchema,
  maxBytes: 64_000_000,
  keyOf: ({ key }) => key,
  expiresAt: () => null,
  unusable: (path, why) =>
    `The file of sign-ins to MCP servers ${path} cannot be used: ${why}. Remove it: then people sign in again.`,
  damaged: () => 'it is damaged',
}

/** Reads nothing yet. Throws `config_invalid` if the folder lies where tools may reach it. */
export function openConfigRecords(options: ConfigFileOptions, log: Logger) {
  const tokens = createRecordFile(tokenFormat, options)
  /** What a single server keeps in the config folder, for `createLocalShared`. */
  const kinds: ReadonlyMap<string, KeptKind> = new Map<string, KeptKind>([
    ['token', tokens],
    ['device', createRecordFile(deviceFormat, options)],
    ['passkey', createRecordFile(passkeyFormat, options)],
    [SECRET, createSecretFiles(options, log)],
    ['mcp_sign_in', createRecordFile(signInFormat, options)],
    ['agent_version', createRecordFile(agentVersionFormat, options)],
  ])
  return { kinds, tokens }
}
