// Commands for agents elsewhere, and everything that waits for a person. For operators.

import { at, type CallOptions, type Calls, type PageOptions, queryOf } from './connection.ts'
import type {
  Alert,
  Channel,
  Checkpoint,
  CheckpointChanges,
  CheckpointFileDiff,
  CommandResult,
  Inbox,
  InboxItem,
  Instruction,
  Modes,
  NewPushSubscription,
  Prompt,
  PromptAnswer,
  PushKey,
  PushSubscription,
  RecordView,
  Replayed,
  Restored,
  ShownCheckpoint,
  Spawn,
  Standby,
  Startable,
  Supervision,
  Taken,
} from './wire.ts'

/** A record of each kind, with its words. */
type AnyRecord = {
  [Item in InboxItem as Item['kind']]: Item[Item['kind'] & keyof Item] & { view: RecordView }
}
type ShownKind = Exclude<InboxItem['kind'], 'approval'>

export interface RecordListOptions extends PageOptions {
  /** Default: `waiting`, what still wants something of a person. `all`: everything. */
  status?: string
  session?: string
  owner?: string
}

export interface InboxOptions extends PageOptions {
  /** Default: `waiting`. `done`: what nobody has to answer any more. */
  status?: 'waiting' | 'done'
  kind?: InboxItem['kind']
  owner?: string
  session?: string
  /** What is no approval counts as high. */
  risk?: NonNullable<InboxItem['risk']>
  /** The name of an agent, or of the host of one elsewhere. */
  agent?: string
  /** The path of a workspace, or the end of it. */
  folder?: string
  /** A text in what a list shows. */
  q?: string
  /** At least so many seconds old. */
  age?: number
}

/** What `pushManager.subscribe` gives, as `toJSON` of it. */
export type BrowserPushSubscription = Pick<NewPushSubscription, 'endpoint' | 'keys'>

/** `refine` needs an instruction. */
type CompleteAnswer = PromptAnswer & ({ decision: 'continue' | 'stop' } | { decision: 'refine'; instruction: string })

type AnswerAction = Pick<RecordView['actions'][number], 'request'>
interface GivenAnswer {
  text?: string
  more?: Record<string, unknown>
}

/** What to post to the path of the action. */
export function answerBody({ request }: AnswerAction, { text = '', more = {} }: GivenAnswer = {}): object {
  const words = request.text === null || text === '' ? {} : { [request.text]: text }
  return { ...request.body, ...words, ...more }
}

/** Answers and commands are sent once and never repeated. After `unreachable`, look whether they arrived. */
export interface SupervisionClient {
  /** The most urgent first; of what is done, the last decided. `next` is null on the last page; `cursor` is where `GET /inbox/events` goes on. */
  inbox(options?: InboxOptions): Promise<Inbox & { next: string | null }>
  /** Other operators see for a minute that you look at it. Resolves with who else does. */
  take(id: string, options?: CallOptions): Promise<Taken>
  /** You look at it no longer. */
  leave(id: string, options?: CallOptions): Promise<void>
  /** Sends one of the `actions` of a record's view. `more`: what else belongs to the body, such as `result` or `arguments`. */
  answer(action: AnswerAction, given?: GivenAnswer, options?: CallOptions): Promise<AnyRecord[InboxItem['kind']]>
  /** What agents elsewhere ask, by its kind. For approvals there are `approvals` and `approval`. */
  records: {
    /** Newest first, without what is behind a question. */
    list<Kind extends ShownKind>(kind: Kind, options?: RecordListOptions): Promise<AnyRecord[Kind][]>
    get<Kind extends ShownKind>(kind: Kind, id: string, options?: CallOptions): Promise<AnyRecord[Kind]>
  }
  prompts: {
    answer(id: string, answer: CompleteAnswer, options?: CallOptions): Promise<Prompt>
  }
  waits: {
    /** Without an instruction the agent just goes on. */
    resume(id: string, instruction?: string, options?: CallOptions): Promise<Standby>
    stop(id: string, options?: CallOptions): Promise<Standby>
  }
  alerts: {
    nudge(id: string, message?: string, options?: CallOptions): Promise<Alert>
    dismiss(id: string, options?: CallOptions): Promise<Alert>
    /** Ends the session of the silent agent. */
    stop(id: string, options?: CallOptions): Promise<Alert>
  }
  channels: {
    /** The ways to reach operators, and how they are doing. */
    list(options?: CallOptions): Promise<Channel[]>
    /** Shows what a channel has shown after this item of the feed once more. If `has_more`, go on later from `cursor`. */
    replay(name: string, after: string, options?: CallOptions): Promise<Replayed>
  }
  push: {
    /** For `pushManager.subscribe`: the `applicationServerKey`. */
    key(options?: CallOptions): Promise<string>
    list(options?: CallOptions): Promise<PushSubscription[]>
    subscribe(
      subscription: BrowserPushSubscription,
      options?: CallOptions & { label?: string },
    ): Promise<PushSubscription>
    unsubscribe(id: string, options?: CallOptions): Promise<void>
  }
  checkpoints: {
    list(options?: Omit<RecordListOptions, 'status'>): Promise<Checkpoint[]>
    get(id: string, options?: CallOptions & { after?: string }): Promise<ShownCheckpoint>
    /** What differs from the workspace now. */
    changes(id: string, options?: CallOptions): Promise<CheckpointChanges>
    /** The same in one file. */
    diff(id: string, path: string, options?: CallOptions): Promise<CheckpointFileDiff>
    /** Throws `restore_unconfirmed` with what would change and its `digest`. Pass that as `confirm` to do it. */
    restore(id: string, options?: CallOptions & { confirm?: string }): Promise<Restored>
  }
  sessions: {
    /** What can be started, and where. */
    startable(options?: CallOptions): Promise<Startable>
    /** Starts an agent in a workspace. */
    start(wanted: Spawn, options?: CallOptions): Promise<Supervision>
    pause(id: string, options?: CallOptions): Promise<Supervision>
    resume(id: string, options?: CallOptions): Promise<Supervision>
    terminate(id: string, options?: CallOptions & { reason?: string }): Promise<Supervision>
    steer(id: string, text: string, options?: CallOptions): Promise<Instruction>
    task(id: string, text: string, options?: CallOptions): Promise<Instruction>
    mode(id: string, mode: Supervision['mode'], options?: CallOptions): Promise<Modes>
    nudge(id: string, message?: string, options?: CallOptions): Promise<Supervision>
    /** Switches alerts and nudges of one session off, or on again. */
    stalls(id: string, enabled: boolean, options?: CallOptions): Promise<Supervision>
    handOver(id: string, to: string, options?: CallOptions): Promise<Supervision>
    checkpoint(id: string, options?: CallOptions & { label?: string; contents?: boolean }): Promise<Checkpoint>
    run(id: string, alias: string, options?: CallOptions): Promise<CommandResult>
  }
}

export function createSupervision({ get, page, post: postAgain, postOnce: post, remove }: Calls): SupervisionClient {
  async function list<T>(name: string, { signal, ...query }: RecordListOptions = {}): Promise<T[]> {
    const found = await get<Record<string, T[]>>(`/${name}${queryOf({ ...query })}`, { signal })
    return found[name] ?? []
  }

  return {
    inbox: ({ signal, ...query } = {}) => page<Inbox>(`/inbox${queryOf({ ...query })}`, { signal }),
    take: (id, options) => postAgain(at('inbox', id, '/take'), {}, options),
    leave: (id, options) => remove(at('inbox', id, '/take'), options),
    answer: (action, given, options) => post(action.request.path, answerBody(action, given), options),
    records: {
      list: (kind, options) => list(`${kind}s`, options),
      get: (kind, id, options) => get(at(`${kind}s`, id), options),
    },
    prompts: {
      answer: (id, answer, options) => post(at('prompts', id), answer, options),
    },
    waits: {
      resume: (id, instruction, options) => post(at('waits', id), { instruction }, options),
      stop: (id, options) => post(at('waits', id), { stop: true }, options),
    },
    alerts: {
      nudge: (id, text, options) => post(at('alerts', id, '/nudge'), { message: text }, options),
      dismiss: (id, options) => post(at('alerts', id, '/dismiss'), {}, options),
      stop: (id, options) => post(at('alerts', id, '/stop'), {}, options),
    },
    channels: {
      list: async (options) => (await get<{ channels: Channel[] }>('/channels', options)).channels,
      replay: (name, after, options) => post(at('channels', name, '/replay'), { after }, options),
    },
    push: {
      key: async (options) => (await get<PushKey>('/push/key', options)).public_key,
      list: async (options) =>
        (await get<{ subscriptions: PushSubscription[] }>('/push/subscriptions', options)).subscriptions,
      subscribe: ({ endpoint, keys }, { label, signal } = {}) =>
        postAgain('/push/subscriptions', { endpoint, keys, label }, { signal }),
      unsubscribe: (id, options) => remove(at('push/subscriptions', id), options),
    },
    checkpoints: {
      list: (options) => list('checkpoints', options),
      get: (id, { after, ...options } = {}) => get(`${at('checkpoints', id)}${queryOf({ after })}`, options),
      changes: (id, options) => get(at('checkpoints', id, '/changes'), options),
      diff: (id, path, options) => get(`${at('checkpoints', id, '/diff')}${queryOf({ path })}`, options),
      restore: (id, { signal, ...body } = {}) => post(at('checkpoints', id, '/restore'), body, { signal }),
    },
    sessions: {
      startable: (options) => get('/hosts', options),
      start: (wanted, options) => post('/sessions', wanted, options),
      pause: (id, options) => post(at('sessions', id, '/pause'), {}, options),
      resume: (id, options) => post(at('sessions', id, '/resume'), {}, options),
      terminate: (id, { signal, ...body } = {}) => post(at('sessions', id, '/terminate'), body, { signal }),
      steer: (id, text, options) => post(at('sessions', id, '/steer'), { text }, options),
      task: (id, text, options) => post(at('sessions', id, '/task'), { text }, options),
      mode: (id, mode, options) => post(at('sessions', id, '/mode'), { mode }, options),
      nudge: (id, text, options) => post(at('sessions', id, '/nudge'), { message: text }, options),
      stalls: (id, enabled, options) => post(at('sessions', id, '/stalls'), { enabled }, options),
      handOver: (id, to, options) => post(at('sessions', id, '/handover'), { to }, options),
      checkpoint: (id, { signal, ...body } = {}) => post(at('sessions', id, '/checkpoint'), body, { signal }),
      run: (id, alias, options) => post(at('sessions', id, '/run'), { alias }, options),
    },
  }
}
