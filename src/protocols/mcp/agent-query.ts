// The part of the URL that says where the agent works.

import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { isWithin } from '../../domain/is-within.ts'
import type { AgentPrincipal } from '../../http/route.ts'
import { createRealPath } from '../../supervision/policy/real-path.ts'

const LONGEST_LIMIT_SECONDS = 86_400

/** Throws `invalid_request` and `forbidden`. */
export function readAgentPlace(query: URLSearchParams, agent: AgentPrincipal) {
  const channelId = text(query, 'channel_id', /^[^\p{C}]{1,200}$/u)
  if (channelId !== null && agent.channel !== undefined && channelId !== agent.channel) {
    throw new ServerError(
      'forbidden',
      `channel_id: this token is bound to the channel ${JSON.stringify(agent.channel)}.`,
    )
  }
  return {
    workspace: workspaceOf(query.get('workspace'), agent),
    sessionId: text(query, 'session_id', /^[^\p{C}]{1,128}$/u),
    channelId: channelId ?? agent.channel ?? null,
    // A stdio bridge sends the same with each of its requests.
    bridgeId: text(query, 'bridge_id', /^[\w-]{8,64}$/),
    // How long the host lets a call block, if its configuration says so.
    hostLimitMs: limitOf(query.get('limit_seconds')),
  }
}

function limitOf(text: string | null): number | null {
  if (text === null || text === '') return null
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= LONGEST_LIMIT_SECONDS) return seconds * 1_000
  throw new ServerError('invalid_request', `limit_seconds: send a number from 1 to ${LONGEST_LIMIT_SECONDS}.`)
}

function text(query: URLSearchParams, name: string, pattern: RegExp): string | null {
  const value = query.get(name)
  if (value === null || value === '') return null
  if (pattern.test(value)) return value
  throw new ServerError('invalid_request', `${name}: the value in the URL is too long or has unusual characters.`)
}

function workspaceOf(asked: string | null, { workspace }: AgentPrincipal): string {
  if (asked === null || asked === '') return workspace
  const shown = JSON.stringify(asked.slice(0, 500))
  if (!isAbsolute(asked) || asked.includes('\0')) {
    throw new ServerError('invalid_request', `workspace: ${shown} is not an absolute path.`)
  }
  const real = realFolder(asked)
  // The same answer for a folder that does not exist, so that an agent cannot look around outside of its own.
  if (real !== null && isWithin(real, workspace)) return real
  throw new ServerError(
    'forbidden',
    `workspace: ${shown} is not a folder in ${JSON.stringify(workspace)}, which this token is bound to.`,
  )
}

function realFolder(path: string): string | null {
  try {
    const real = createRealPath()(path)
    return statSync(real).isDirectory() ? real : null
  } catch {
    return null
  }
}
