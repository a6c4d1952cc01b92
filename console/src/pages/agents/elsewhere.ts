import type { Session } from 'quarterdeck/client'

export interface Elsewhere {
  agent: string
  hosts: string[]
  sessions: number
  working: number
  lastSeen: string
}

/** Agents that run elsewhere, out of their sessions: the one that was last seen first. */
export function agentsElsewhere(sessions: readonly Session[]): Elsewhere[] {
  const found = new Map<string, Elsewhere>()
  for (const { agent, status, updated_at, supervision } of sessions) {
    const one = found.get(agent) ?? { agent, hosts: [], sessions: 0, working: 0, lastSeen: updated_at }
    const host = supervision?.host ?? ''
    found.set(agent, {
      agent,
      hosts: host === '' || one.hosts.includes(host) ? one.hosts : [...one.hosts, host],
      sessions: one.sessions + 1,
      working: one.working + (status === 'ended' ? 0 : 1),
      lastSeen: updated_at > one.lastSeen ? updated_at : one.lastSeen,
    })
  }
  return [...found.values()].sort((a, b) => (a.lastSeen < b.lastSeen ? 1 : -1))
}
