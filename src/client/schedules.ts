import { at, type CallOptions, type Calls } from './connection.ts'
import type { NewSchedule, Schedule, ScheduleTime } from './wire.ts'

/** For operators: messages that agents get by themselves. */
export interface SchedulesClient {
  schedules: {
    /** Each with its newest time. */
    list(options?: CallOptions): Promise<Schedule[]>
    /** With what became of its last 50 times. */
    get(id: string, options?: CallOptions): Promise<Schedule>
    add(schedule: NewSchedule, options?: CallOptions): Promise<Schedule>
    pause(id: string, options?: CallOptions): Promise<Schedule>
    resume(id: string, options?: CallOptions): Promise<Schedule>
    /** Starts a run now, beside its times. */
    run(id: string, options?: CallOptions): Promise<ScheduleTime>
    remove(id: string, options?: CallOptions): Promise<void>
  }
}

export function createSchedulesClient({ get, json, postOnce, remove }: Calls): SchedulesClient {
  const pause =
    (paused: boolean) =>
    (id: string, { signal }: CallOptions = {}): Promise<Schedule> =>
      json({ method: 'PATCH', path: at('schedules', id), body: { paused }, signal })
  return {
    schedules: {
      list: async (options) => (await get<{ schedules: Schedule[] }>('/schedules', options)).schedules,
      get: (id, options) => get(at('schedules', id), options),
      add: (schedule, options) => postOnce('/schedules', schedule, options),
      pause: pause(true),
      resume: pause(false),
      run: (id, options) => postOnce(at('schedules', id, '/run'), {}, options),
      remove: (id, options) => remove(at('schedules', id), options),
    },
  }
}
