// The schedules of this server. What starts runs, and the library for cron, are loaded when there is a schedule.

import type { Schedules } from '../schedules/schedules.ts'
import type { Working } from './create-services.ts'

export interface OpenSchedules {
  /** Loads what is needed for them. */
  load(): Promise<Schedules>
  /** Begins to start what is due, if there is anything. */
  begin(): void
  /** Starts nothing any more. Resolves when nothing is under way. */
  stop(): Promise<void>
}

const PLACE = 'kept schedules'
const TOPIC = 'schedules'
/** A channel that takes lines is named after the one beside it, which people know. */
const LINES = /:lines$/
const AGAIN_MS = 5_000
/** One server tells the results at a time. If it dies, another one does after this time. */
const TELLS_MS = 10_000

export function openSchedules(parts: Working): OpenSchedules {
  const { notes, replica, services, outbox, channels, clock, ids, log: logger } = parts
  const agents = parts.parts.map(({ definition }) => definition).filter(({ internal }) => !internal)
  let loaded: Promise<Schedules> | null = null
  let stopWatching = () => {}

  async function open(): Promise<Schedules> {
    const { createSchedules } = await import('../schedules/schedules.ts')
    const schedules = createSchedules({
      agents,
      engine: services.engine,
      notes,
      channels: channels.flatMap(({ name, say }) => (say === undefined ? [] : [name.replace(LINES, '')])),
      queue: (channel, line) => outbox.queue(`${channel}:lines`, line),
      asHolder: (work) => services.jobs.asHolder('schedule results', TELLS_MS, work),
      tellOthers: () => replica.changes.tell(TOPIC),
      clock,
      ids,
      logger,
    })
    await schedules.begin()
    return schedules
  }

  function load(): Promise<Schedules> {
    loaded ??= open().catch((error: unknown) => {
      loaded = null
      throw error
    })
    return loaded
  }

  const areInFiles = agents.some(({ schedules = [] }) => schedules.length > 0)
  let cancel = () => {}

  /** Another server may have made the first one. */
  async function look(): Promise<void> {
    try {
      if (areInFiles || loaded !== null || (await notes.list(PLACE)).length > 0) (await load()).look()
    } catch (error) {
      logger.warn('the schedules cannot be read just now', { error })
      cancel()
      cancel = clock.after(AGAIN_MS, () => void look())
    }
  }

  return {
    load,
    begin() {
      stopWatching = replica.changes.watch(TOPIC, () => void look())
      void look()
    },
    async stop() {
      stopWatching()
      cancel()
      await loaded?.then(({ close }) => close()).catch(() => {})
    },
  }
}
