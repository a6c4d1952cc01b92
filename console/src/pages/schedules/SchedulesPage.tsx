import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schedule, ScheduleTime } from 'quarterdeck/client'
import { useState } from 'react'
import { Link } from 'wouter'
import { useTitle } from '../../app/title.ts'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { announce } from '../../parts/Announcer.tsx'
import { Badge, type Tone } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { Command } from '../../parts/Command.tsx'
import { DataTable } from '../../parts/DataTable.tsx'
import { PlayIcon, ScheduleIcon } from '../../parts/icons.ts'
import { Page, Panel } from '../../parts/Page.tsx'
import { Empty, Failed, How, Pending } from '../../parts/States.tsx'
import { duration, Time } from '../../parts/Time.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import styles from './SchedulesPage.module.css'

/** Runs of schedules begin and end without a word on the stream of this page. */
const LOOK_MS = 10_000

/** What agents are told by themselves: what comes next, what came last, and a way to pause it or to start it now. */
export default function SchedulesPage() {
  useTitle('Schedules')
  const client = useClient()
  const query = useQuery({
    queryKey: ['schedules'],
    queryFn: ({ signal }) => client.schedules.list({ signal }),
    refetchInterval: LOOK_MS,
  })
  const [error, setError] = useState<unknown>(null)
  const { data } = query
  return (
    <Page title="Schedules">
      {error !== null && <Failed error={error} />}
      {data === undefined ? (
        <Pending query={query} rows={4} height={72} />
      ) : data.length === 0 ? (
        <Empty title="No schedules" icon={<ScheduleIcon />}>
          <p>
            Write them under <code>schedules</code> in an agent’s file, or make one in a terminal:
          </p>
          <Command isAboutServer>schedules add AGENT hourly "Look around." --every 1h</Command>
          <How to="run-an-agent-on-a-schedule" />
        </Empty>
      ) : (
        data.map((one) => <OneSchedule key={one.id} schedule={one} onError={setError} />)
      )}
    </Page>
  )
}

interface OneProps {
  schedule: Schedule
  onError: (error: unknown) => void
}

function OneSchedule({ schedule, onError }: OneProps) {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const [isBusy, setIsBusy] = useState(false)
  const [isOpen, setIsOpen] = useState(false)
  const { id, paused, next_at: next, message, past } = schedule

  async function act(work: () => Promise<unknown>, done: string): Promise<void> {
    setIsBusy(true)
    onError(null)
    try {
      await work()
      announce(done)
    } catch (error) {
      onError(error)
    } finally {
      setIsBusy(false)
      await queries.invalidateQueries({ queryKey: ['schedules'] })
    }
  }

  const can = isLive && !isBusy
  const [last] = past
  return (
    <Panel
      title={<VisibleText text={id} inline />}
      actions={
        <span className={styles.actions}>
          {(paused || next !== null) && (
            <Button
              disabled={!can}
              aria-label={`${paused ? 'Resume' : 'Pause'} ${id}`}
              onClick={() =>
                void act(
                  () => (paused ? client.schedules.resume(id) : client.schedules.pause(id)),
                  paused ? `${id} goes on` : `${id} is paused`,
                )
              }
            >
              {paused ? 'Resume' : 'Pause'}
            </Button>
          )}
          <Button
            icon={<PlayIcon />}
            disabled={!can}
            aria-label={`Run ${id} now`}
            onClick={() => void act(() => client.schedules.run(id), `${id} was started`)}
          >
            Run now
          </Button>
        </span>
      }
    >
      <p className={styles.message}>
        <VisibleText text={message} inline isRaw />
      </p>
      <p className={styles.facts}>
        <span>{timesWords(schedule)}</span>
        <span>
          {paused ? (
            <Badge tone="warn">Paused</Badge>
          ) : next === null ? (
            'Ended'
          ) : (
            <>
              Next: <Time at={next} />
            </>
          )}
        </span>
        {last !== undefined && (
          <span>
            Last: <Outcome time={last} />
          </span>
        )}
        {last !== undefined && (
          <Button
            kind="quiet"
            aria-expanded={isOpen}
            aria-label={`History of ${id}`}
            onClick={() => setIsOpen(!isOpen)}
          >
            History
          </Button>
        )}
      </p>
      {isOpen && <History id={id} />}
    </Panel>
  )
}

function History({ id }: { id: string }) {
  const client = useClient()
  const query = useQuery({
    queryKey: ['schedules', id],
    queryFn: ({ signal }) => client.schedules.get(id, { signal }),
    refetchInterval: LOOK_MS,
  })
  if (query.data === undefined) return <Pending query={query} rows={3} height={32} />
  return (
    <DataTable
      label={`History of ${id}`}
      rows={query.data.past}
      keyOf={({ due, run_id }) => `${due} ${run_id}`}
      columns={[
        { name: 'Due', cell: ({ due }) => <Time at={due} /> },
        { name: 'Result', cell: (time) => <Outcome time={time} /> },
        { name: '', cell: ({ by, why }) => <VisibleText text={why ?? (by === null ? '' : `by ${by}`)} inline isRaw /> },
      ]}
    />
  )
}

const tones: Readonly<Record<string, Tone>> = { completed: 'good', waiting: 'warn', missed: 'warn', failed: 'bad' }

/** How it ended, as a link to its session. */
function Outcome({ time: { outcome, status, session_id: session } }: { time: ScheduleTime }) {
  const word = outcome === 'started' ? (status ?? 'deleted') : outcome
  const badge = <Badge tone={tones[word] ?? 'neutral'}>{word}</Badge>
  return session === null || status === null ? (
    badge
  ) : (
    <Link href={`/sessions/${encodeURIComponent(session)}`}>{badge}</Link>
  )
}

function timesWords({ cron, time_zone, every_seconds: every, at }: Schedule) {
  if (cron !== null) {
    return (
      <>
        <code>{cron}</code> {time_zone}
      </>
    )
  }
  return at === null ? `Every ${duration((every ?? 0) * 1_000).replace(/ 0 (?:s|min)$/, '')}` : 'Once'
}
