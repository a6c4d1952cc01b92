// What all requests of an agent have in common: its instructions, parameters and tools. Kept once by its digest, when it is first used, so
// that a step names it instead of repeating it.

import type { ModelAgent, ModelSettings } from '../../domain/agent/agent.ts'
import type { Skill } from '../../domain/agent/skill.ts'
import type { Clock } from '../../domain/clock.ts'
import { hasCode } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import { sha256 } from '../../json/digest.ts'
import type { ModelTool } from '../../models/model.ts'
import { MOST_VALUE_CHARS, type Shared } from '../../store/ports/shared.ts'
import type { SendingAgent } from './build-request.ts'

/** Without anything secret: neither keys nor addresses. */
export interface AgentVersion extends Pick<ModelAgent, 'name' | 'instructions' | 'responseFormat'> {
  context: SendingAgent['context']
  model: Pick<ModelSettings, 'provider' | 'name' | 'temperature' | 'maxTokens' | 'topP' | 'reasoning' | 'contextWindow'>
  /** Without those that a caller brings: the input of the run has them. */
  tools: readonly ModelTool[]
  /** What its skills say is not here, only whether it is the same. */
  skills?: Pick<Skill, 'name' | 'digest'>[]
}

const AGENT_VERSION = 'agent_version'
/** Use renews it before half of this is over. It is longer than logs are kept by default. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1000
/** Whoever works on an agent makes a version with each run. The oldest ones go first. */
const MOST_VERSIONS = 200
const MOST_CHARS = 8_000_000
/** A disk that cannot be written is not asked again at each step. */
const RETRY_MS = 60_000
/** Another process may have dropped a version that is in use here, so it is looked for again. */
const RECHECK_MS = 60 * 60_000

export type AgentVersions = ReturnType<typeof createAgentVersions>

interface VersionsDeps {
  shared: Pick<Shared, 'get' | 'list' | 'put' | 'take'>
  clock: Pick<Clock, 'now' | 'mono'>
  logger: Logger
}

export function createAgentVersions({ shared, clock, logger }: VersionsDeps) {
  /** When each is looked for again. */
  const kept = new Map<string, number>()
  let retryAt = 0
  /** From step to step an agent has the same tools, and many are long. */
  const last = new WeakMap<ModelAgent, { tools: readonly ModelTool[]; digest: string }>()

  function digestFor(definition: ModelAgent, tools: readonly ModelTool[]): string {
    const known = last.get(definition)
    if (known !== undefined && areSame(known.tools, tools)) return known.digest
    const digest = digestOf(versionOf(definition, tools))
    last.set(definition, { tools, digest })
    return digest
  }

  async function store(digest: string, version: AgentVersion): Promise<void> {
    const now = clock.now()
    const known = await shared.get(AGENT_VERSION, digest)
    if (known !== null && (known.expiresAt ?? now) > now + KEPT_MS / 2) return
    const expiresAt = now + KEPT_MS
    const value = JSON.stringify({ digest, expires_at: expiresAt, ...version })
    if (value.length > MOST_VALUE_CHARS) return notKept(version, 'its instructions and tools are too long')
    await shared.put({ kind: AGENT_VERSION, key: digest, value, version: null, expiresAt })
    await dropOldest(digest)
  }

  async function dropOldest(newestDigest: string): Promise<void> {
    const all = (await shared.list(AGENT_VERSION)).filter(({ key }) => key !== newestDigest)
    let [count, chars] = [0, 0]
    for (const { key, value } of all.sort((a, b) => (b.expiresAt ?? 0) - (a.expiresAt ?? 0))) {
      count += 1
      chars += value.length
      if (count < MOST_VERSIONS && chars <= MOST_CHARS) continue
      await shared.take(AGENT_VERSION, key)
      // Should it be used again, it is kept again.
      kept.delete(key)
    }
  }

  function notKept({ name }: Pick<AgentVersion, 'name'>, error: unknown): void {
    logger.warn('what an agent sends could not be kept, so the timeline will not show it', { agent: name, error })
  }

  return {
    /** Its digest. Nobody waits until it is stored, and a run goes on if it cannot be. */
    keep(definition: ModelAgent, tools: readonly ModelTool[]): string {
      const digest = digestFor(definition, tools)
      const mono = clock.mono()
      const nextLook = kept.get(digest) ?? retryAt
      if (mono < nextLook) return digest
      kept.set(digest, mono + RECHECK_MS)
      const version = versionOf(definition, tools)
      store(digest, version).catch((error: unknown) => {
        kept.delete(digest)
        retryAt = clock.mono() + RETRY_MS
        notKept(version, error)
      })
      return digest
    },
    /** Null: it is not kept here, or no longer. */
    async find(digest: string): Promise<AgentVersion | null> {
      const found = await shared.get(AGENT_VERSION, digest).catch((error: unknown) => {
        // The rest of the timeline does not need it.
        if (!hasCode(error, 'config_invalid')) throw error
        logger.warn('what agents have sent cannot be read', { error })
        return null
      })
      if (found === null) return null
      const { digest: _digest, expires_at: _expiresAt, ...version } = JSON.parse(found.value)
      // Nobody is shown what somebody has changed since.
      return digestOf(version) === digest ? version : null
    },
  }
}

const areSame = (some: readonly ModelTool[], others: readonly ModelTool[]): boolean =>
  some.length === others.length &&
  some.every(({ name, description, parameters }, i) => {
    const other = others[i]
    return name === other?.name && description === other.description && parameters === other.parameters
  })

const digestOf = (version: AgentVersion): string => sha256(JSON.stringify(version)).slice(0, 16)

function versionOf(definition: ModelAgent, tools: readonly ModelTool[]): AgentVersion {
  const { name, instructions, responseFormat, context, model, skills } = definition
  const { provider, contextWindow, temperature, maxTokens, topP, reasoning } = model
  const parameters = present({ temperature, maxTokens, topP, reasoning })
  return {
    name,
    instructions,
    responseFormat,
    context: { maxMessages: context.maxMessages },
    model: { provider, name: model.name, contextWindow, ...parameters },
    tools,
    ...(skills === undefined ? {} : { skills: skills.map(({ name, digest }) => ({ name, digest })) }),
  }
}
