import type { Agent, Session, Usage } from 'quarterdeck/client'
import { useRef } from 'react'
import { Link } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useAgents } from '../../data/agents.ts'
import { useUsage } from '../../data/usage.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { AsOf } from '../../parts/AsOf.tsx'
import { Badge } from '../../parts/Badge.tsx'
import { Command } from '../../parts/Command.tsx'
import { AgentIcon } from '../../parts/icons.ts'
import { Panel } from '../../parts/Page.tsx'
import { Empty, How, Pending } from '../../parts/States.tsx'
import { Time } from '../../parts/Time.tsx'
import { counted } from '../../words.ts'
import { figureLine, useDays } from './AgentFigures.tsx'
import styles from './AgentList.module.css'
import { useSupervised, workerOf } from './use-agents.ts'

/** The agents of this server, then those that run elsewhere and report here. */
export function AgentList() {
  const agents = useAgents()
  const { range, choice } = useDays()
  const { data: usage } = useUsage(range, { by: 'agent' })
  const { data, dataUpdatedAt } = agents
  const isLive = useIsLive()
  const box = useRef<HTMLDivElement>(null)
  const move = (step: 1 | -1) => {
    const links = [...(box.current?.querySelectorAll<HTMLElement>('a[data-row]') ?? [])]
    const at = links.indexOf(document.activeElement as HTMLElement)
    links[at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + step))]?.focus()
  }
  useKeys([
    { keys: 'j', name: 'Next agent', group: 'Agents', run: () => move(1) },
    { keys: 'k', name: 'Previous agent', group: 'Agents', run: () => move(-1) },
  ])
  if (data === undefined) return <Pending query={agents} rows={4} height={72} />
  return (
    <div ref={box}>
      <AsOf isLive={isLive} at={dataUpdatedAt}>
        <Panel title="On this server" actions={choice} isFlush>
          {data.length === 0 ? (
            <Empty title="No agents" icon={<AgentIcon />}>
              <p>An agent is a file. Make one and serve it:</p>
              <Command>init</Command>
              <How to="give-an-agent-tools" />
            </Empty>
          ) : (
            <ul>
              {data.map((agent) => (
                <li key={agent.name}>
                  <AgentRow agent={agent} figures={figuresOf(agent.name, usage)} />
                </li>
              ))}
            </ul>
          )}
        </Panel>
        <AgentsElsewhere />
      </AsOf>
    </div>
  )
}

function figuresOf(agent: string, usage: Usage | undefined): string {
  const counts = usage?.rows.find(({ key }) => key === agent)
  return counts === undefined || usage === undefined ? '' : figureLine(counts, usage.currency)
}

function AgentRow({ agent, figures }: { agent: Agent; figures: string }) {
  const { name, description, is_default, host, tools, tests } = agent
  return (
    <Link href={`/agents/${encodeURIComponent(name)}`} className={styles.row} data-row="">
      <span className={styles.name}>
        <bdi>{name}</bdi>
        {is_default && <Badge tone="accent">Default</Badge>}
        {host?.unconfined === true && <Badge tone="bad">Unconfined: runs without a sandbox</Badge>}
      </span>
      <span className={styles.text} dir="auto">
        {description}
      </span>
      {figures !== '' && <span className={styles.text}>{figures}</span>}
      <span className={styles.facts}>
        <bdi>{workerOf(agent)}</bdi>
        {host === null && ` · ${counted(tools.length, 'tool')} · ${counted(tests, 'test case')}`}
      </span>
    </Link>
  )
}

function AgentsElsewhere() {
  const sessions = useSupervised()
  const { data } = sessions
  if (data === undefined) return <Pending query={sessions} rows={2} height={72} />
  const all = agentsElsewhere(data)
  return (
    <Panel title="Elsewhere" isFlush>
      {all.length === 0 ? (
        <p className={styles.none}>
          Coding agents on other machines and in other programs report here once they are connected:{' '}
          <Command>connect claude</Command>
        </p>
      ) : (
        <ul>
          {all.map(({ agent, hosts, sessions, working, lastSeen }) => (
            <li key={agent}>
              <Link
                href={`/sessions?kind=supervised&agent=${encodeURIComponent(agent)}`}
                className={styles.row}
                data-row=""
              >
                <span className={styles.name}>
                  <bdi>{agent === '' ? 'Without a name' : agent}</bdi>
                  {working > 0 && <Badge tone="accent">{working} open</Badge>}
                </span>
                <span className={styles.text}>
                  <bdi>{hosts.filter((host) => host !== agent).join(', ')}</bdi>
                </span>
                <span className={styles.facts}>
                  {counted(sessions, 'session')} · seen <Time at={lastSeen} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

interface Elsewhere {
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
