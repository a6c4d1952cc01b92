import { type Channel, ClientError, type Health, type Stats } from 'quarterdeck/client'
import { useTitle } from '../../app/title.ts'
import { AsOf } from '../../parts/AsOf.tsx'
import { Notice } from '../../parts/approval/Notice.tsx'
import { Badge, type Tone } from '../../parts/Badge.tsx'
import { Command } from '../../parts/Command.tsx'
import { DataTable } from '../../parts/DataTable.tsx'
import { Page, Panel } from '../../parts/Page.tsx'
import { Pending } from '../../parts/States.tsx'
import { duration, Time, useNow } from '../../parts/Time.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { byteWord, counted, fullCount } from '../../words.ts'
import { adviceOf, checkName, verdictOf } from './advice.ts'
import { Figures } from './Figures.tsx'
import styles from './HealthPage.module.css'
import { EVERY_MS, useChannels, useHealth, useStats } from './use-health.ts'

/** How the server is doing, and what to do if it is not well. */
export default function HealthPage() {
  const health = useHealth()
  const stats = useStats()
  const now = useNow(EVERY_MS)
  const isAway = health.error instanceof ClientError && health.error.code === 'unreachable'
  const status = isAway ? null : (health.data?.status ?? null)
  const known = isAway || health.data !== undefined
  const servers = stats.data?.replicas ?? []
  useTitle(known ? `Health: ${verdictOf(status).word}` : 'Health')
  return (
    <Page title="Health">
      {known ? (
        <Overall status={status} health={health.data} servers={servers.length} />
      ) : (
        <Pending query={health} rows={1} height={64} />
      )}
      {health.data?.unconfined !== undefined && (
        <Notice tone="bad">
          <p>
            <strong>Unconfined: runs without a sandbox.</strong> The programs of these agents can write wherever the
            user of the server can: <bdi>{health.data.unconfined.join(', ')}</bdi>.
          </p>
        </Notice>
      )}
      {health.data?.insecure === true && (
        <Notice tone="bad">
          <p>
            Everybody who can reach this server can use it. Let it listen on this machine only, or make tokens:{' '}
            <Command isAboutServer>tokens create</Command>
          </p>
        </Notice>
      )}
      <AsOf isLive={!isAway} at={health.dataUpdatedAt}>
        {health.data?.checks !== undefined && (
          <Panel title="What it needs" isFlush>
            <Checks checks={health.data.checks} isShared={stats.data === undefined ? null : servers.length > 0} />
          </Panel>
        )}
        {servers.length > 0 && <Servers servers={servers} />}
        {stats.data !== undefined ? (
          <Figures stats={stats.data} samples={stats.samples} now={stats.error === null ? now : stats.dataUpdatedAt} />
        ) : (
          (stats.error === null || !isAway) && <Pending query={stats} rows={3} height={116} />
        )}
        <Channels />
      </AsOf>
      <p className={styles.note}>
        The lines show the last hour, as far as this page was open in this tab. Programs that watch servers read{' '}
        <code>GET /metrics</code>.
      </p>
    </Page>
  )
}

interface OverallProps {
  status: Health['status'] | null
  health: Health | undefined
  /** How many servers share the store. 0: it belongs to one. */
  servers: number
}

function Overall({ status, health, servers }: OverallProps) {
  const { word, sentence, tone } = verdictOf(status)
  const facts = [
    ...(servers > 1
      ? [`${servers} servers`]
      : [
          health?.version === undefined ? null : `Version ${health.version}`,
          health?.uptime_seconds === undefined ? null : `up for ${duration(health.uptime_seconds * 1_000)}`,
        ]),
    health?.active_sessions === undefined || status === 'unhealthy'
      ? null
      : `${counted(health.active_sessions, 'session')} in use`,
    health?.agent_ready === false ? 'takes no work' : null,
  ].filter((fact) => fact !== null)
  return (
    <section className={styles.overall} data-tone={tone} aria-live="polite">
      <Badge tone={tone}>{word}</Badge>
      <p>{sentence}</p>
      {status !== null && facts.length > 0 && <p className={styles.facts}>{facts.join(' · ')}</p>}
      {status === null && (
        <p className={styles.facts}>If it is your machine, start it there again. This page goes on by itself.</p>
      )}
    </section>
  )
}

/** Each part that the server needs: whether it works, how quickly it answered, and what to do if it does not. */
function Checks({ checks, isShared }: { checks: NonNullable<Health['checks']>; isShared: boolean | null }) {
  return (
    <DataTable
      label="Checks"
      rows={Object.entries(checks)}
      keyOf={([name]) => name}
      columns={[
        { name: 'Part', cell: ([name]) => <bdi>{checkName(name)}</bdi> },
        {
          name: 'State',
          cell: ([name, { status, error }]) => (
            <div className={styles.state}>
              <Badge tone={status === 'up' ? 'good' : 'bad'}>{status === 'up' ? 'Works' : 'Does not work'}</Badge>
              {status === 'down' && (
                <>
                  {error !== undefined && <VisibleText text={error} />}
                  <Advice check={name} isShared={isShared} />
                </>
              )}
            </div>
          ),
        },
        {
          name: 'Answered in',
          cell: ([, { latency_ms }]) =>
            latency_ms === undefined ? '–' : latency_ms < 1 ? '< 1 ms' : duration(latency_ms),
          isNumber: true,
        },
      ]}
    />
  )
}

function Advice({ check, isShared }: { check: string; isShared: boolean | null }) {
  const { text, command } = adviceOf(check, isShared)
  return (
    <p className={styles.advice}>
      {text} {command !== null && <Command>{command}</Command>}
    </p>
  )
}

type Server = Stats['replicas'][number]

const states: Readonly<Record<Server['state'], readonly [word: string, tone: Tone]>> = {
  initializing: ['Starts', 'neutral'],
  ready: ['Works', 'good'],
  running: ['Works', 'good'],
  shutting_down: ['Stops', 'warn'],
  stopped: ['Stopped', 'neutral'],
}

/** The servers on one database. One that has died is in the list for up to ten seconds more. */
function Servers({ servers }: { servers: Stats['replicas'] }) {
  return (
    <Panel title="Servers on this database" isFlush>
      <DataTable
        label="Servers"
        // Always in the same order: another one answers each time.
        rows={servers.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Server', cell: (server) => <bdi>{nameOf(server)}</bdi> },
          {
            name: 'State',
            cell: ({ state, is_this }) => (
              <div className={styles.badges}>
                <Badge tone={states[state][1]}>{states[state][0]}</Badge>
                {is_this && <span className={styles.answered}>answered this page</span>}
              </div>
            ),
          },
          { name: 'Version', cell: ({ version }) => <bdi>{version}</bdi>, isMinor: true },
          { name: 'Up for', cell: ({ uptime_seconds }) => duration(uptime_seconds * 1_000), isNumber: true },
          { name: 'Runs', cell: ({ runs }) => fullCount(runs.active), isNumber: true },
          { name: 'Watching', cell: ({ streams }) => fullCount(streams), isNumber: true, isMinor: true },
          { name: 'Memory', cell: ({ memory }) => byteWord(memory.rss), isNumber: true, isMinor: true },
        ]}
      />
    </Panel>
  )
}

const nameOf = ({ machine, port }: Server): string => (port === null ? machine : `${machine}:${port}`)

/** The ways to reach operators: whether somebody is reached there. */
function Channels() {
  const channels = useChannels()
  const { data } = channels
  return (
    <Panel title="Channels" isFlush>
      {data === undefined ? (
        <Pending query={channels} rows={2} height={40} />
      ) : data.length === 0 ? (
        <p className={styles.none}>
          None. They tell people what waits, and are set up in <code>quarterdeck.yaml</code>. Begin with{' '}
          <Command>connect slack</Command>.
        </p>
      ) : (
        <DataTable
          label="Channels"
          rows={data}
          keyOf={({ name }) => name}
          columns={[
            { name: 'Channel', cell: ({ name }) => <bdi>{name}</bdi> },
            { name: 'Kind', cell: ({ title }) => title, isMinor: true },
            { name: 'State', cell: (channel) => <ChannelState channel={channel} /> },
            { name: 'Still to send', cell: ({ waiting }) => fullCount(waiting), isNumber: true, isMinor: true },
            { name: 'Missed', cell: ({ missed }) => fullCount(missed), isNumber: true, isMinor: true },
            {
              name: 'Last sent',
              cell: ({ last_shown_at: at }) => (at === null ? 'not since the start' : <Time at={at} />),
              isNumber: true,
            },
          ]}
        />
      )}
    </Panel>
  )
}

function ChannelState({ channel: { set_up, trouble } }: { channel: Channel }) {
  if (trouble !== null) {
    return (
      <div className={styles.state}>
        <Badge tone="bad">Reaches nobody</Badge>
        <VisibleText text={trouble} />
      </div>
    )
  }
  return set_up ? <Badge tone="good">Works</Badge> : <Badge>Not set up</Badge>
}
