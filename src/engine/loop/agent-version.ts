// What all requests of an agent have in common: its instructions, parameters and tools. Kept once by its digest, when it is first used, so
// that a step names it instead of repeating it.

import type { AgentDefinition, ModelSettings } from '../../domain/agent/agent.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import { sha256 } from '../../json/digest.ts'
import type { ModelTool } from '../../models/model.ts'
import type { Shared } from '../../store/ports/shared.ts'

/** Without anything secret: neither keys nor addresses. */
export interface AgentVersion extends Pick<AgentDefinition, 'name' | 'instructions' | 'responseFormat' | 'context'> {
  model: Pick<ModelSettings, 'provider' | 'name' | 'temperature' | 'maxTokens' | 'topP' | 'reasoning' | 'contextWindow'>
  /** Without those that a caller brings: the input of the run has them. */
  tools: readonly ModelTool[]
}

const AGENT_VERSION = 'agent_version'
/** After its last first use. It is longer than logs are kept by default. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1000

export type AgentVersions = ReturnType<typeof createAgentVersions>

interface VersionsDeps {
  shared: Pick<Shared, 'get' | 'put'>
  clock: Pick<Clock, 'now'>
  logger: Logger
}

export function createAgentVersions({ shared, clock, logger }: VersionsDeps) {
  const kept = new Set<string>()

  async function store(digest: string, version: AgentVersion): Promise<void> {
    const now = clock.now()
    const known = await shared.get(AGENT_VERSION, digest)
    if (known !== null && (known.expiresAt ?? now) > now + KEPT_MS / 2) return
    const expiresAt = now + KEPT_MS
    const value = JSON.stringify({ digest, expires_at: expiresAt, ...version })
    await shared.put({ kind: AGENT_VERSION, key: digest, value, version: null, expiresAt })
  }

  return {
    /** Its digest. Nobody waits until it is stored, and a run goes on if it cannot be. */
    keep(definition: AgentDefinition, tools: readonly ModelTool[]): string {
      const version = versionOf(definition, tools)
      const digest = sha256(JSON.stringify(version)).slice(0, 16)
      if (kept.has(digest)) return digest
      kept.add(digest)
      store(digest, version).catch((error: unknown) => {
        kept.delete(digest)
        const agent = definition.name
        logger.warn('what an agent sends could not be kept, so the timeline will not show it', { agent, error })
      })
      return digest
    },
    /** Null: it is not kept here, or no longer. */
    async find(digest: string): Promise<AgentVersion | null> {
      const found = await shared.get(AGENT_VERSION, digest)
      return found === null ? null : JSON.parse(found.value)
    },
  }
}

function versionOf(definition: AgentDefinition, tools: readonly ModelTool[]): AgentVersion {
  const { name, instructions, responseFormat, context, model } = definition
  const { provider, contextWindow, temperature, maxTokens, topP, reasoning } = model
  const parameters = present({ temperature, maxTokens, topP, reasoning })
  return {
    name,
    instructions,
    responseFormat,
    context,
    model: { provider, name: model.name, contextWindow, ...parameters },
    tools,
  }
}
