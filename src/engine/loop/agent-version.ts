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

export interface AgentVersions {
  /** Its digest. Nobody waits until it is stored, and a run goes on if it cannot be. */
  keep(definition: AgentDefinition, tools: readonly ModelTool[]): string
  /** Null: it is not kept here, or no longer. */
  find(digest: string): Promise<AgentVersion | null>
}

const AGENT_VERSION = 'agent_version'
/** After its last first use. It is longer than logs are kept by default. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1000

export function createAgentVersions({
  shared,
  clock,
  logger,
}: {
  shared: Pick<Shared, 'get' | 'put'>
  clock: Pick<Clock, 'now'>
  logger: Logger
}): AgentVersions {
  const newest = new WeakMap<AgentDefinition, { tools: string; digest: string }>()
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
    keep(definition, tools) {
      const toolText = JSON.stringify(tools)
      const last = newest.get(definition)
      if (last?.tools === toolText) return last.digest
      const version = versionOf(definition, tools)
      const digest = sha256(JSON.stringify(version)).slice(0, 16)
      newest.set(definition, { tools: toolText, digest })
      if (!kept.has(digest)) {
        kept.add(digest)
        store(digest, version).catch((error: unknown) => {
          kept.delete(digest)
          newest.delete(definition)
          logger.warn('what an agent sends could not be kept, so the timeline will not show it', {
            agent: definition.name,
            error,
          })
        })
      }
      return digest
    },
    async find(digest) {
      const found = await shared.get(AGENT_VERSION, digest)
      return found === null ? null : JSON.parse(found.value)
    },
  }
}

function versionOf(definition: AgentDefinition, tools: readonly ModelTool[]): AgentVersion {
  const { name, instructions, responseFormat, context, model } = definition
  const { provider, name: modelName, temperature, maxTokens, topP, reasoning, contextWindow } = model
  const parameters = { temperature, maxTokens, topP, reasoning }
  return {
    name,
    instructions,
    responseFormat,
    context,
    model: { provider, name: modelName, contextWindow, ...present(parameters) },
    tools,
  }
}
