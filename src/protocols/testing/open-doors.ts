// The AG-UI, CopilotKit and management routes over a real socket, on a real engine and store, with a model that the test controls.

import { silentLogger } from '../../domain/logger.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { TestEngineOptions } from '../../engine/testing/open-engine.ts'
import type { Route } from '../../http/route.ts'
import {
  consoleToken,
  eveToken,
  localToken,
  operatorToken,
  otherAgentToken,
  startServer,
  userToken,
} from '../../http/testing/server-fixture.ts'
import { createOnlyReplica } from '../../replicas/replica.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import { createNoteShown, createRevealSecret } from '../../supervision/approvals/looked-at.ts'
import { createReadDiff } from '../../supervision/approvals/read-diff.ts'
import { createInbox } from '../../supervision/inbox/inbox.ts'
import { createWhoLooks } from '../../supervision/inbox/who-looks.ts'
import { createNoteRefused } from '../../supervision/oversight/note-refused.ts'
import { createReadScenes } from '../../supervision/records/record-scenes.ts'
import { createCopilotKitRoutes } from '../ag-ui/copilotkit/routes.ts'
import { createAgUiRoutes } from '../ag-ui/routes.ts'
import { createApprovalRoutes } from '../manage/approvals/routes.ts'
import { createEventRoutes } from '../manage/events/routes.ts'
import { createFileRoutes } from '../manage/files/routes.ts'
import { createInboxRoutes } from '../manage/inbox/routes.ts'
import { createSearchRoutes } from '../manage/search/routes.ts'
import { createSessionRoutes } from '../manage/sessions/routes.ts'
import { createToolRoutes } from '../manage/tools/routes.ts'
import { noteRefusedRequests } from '../shared/request/refused-requests.ts'
import { openEngineWithFiles } from './open-engine-with-files.ts'
import { type Frame, readSse } from './sse-reader.ts'

type Opened = ReturnType<typeof openEngineWithFiles>

/** `more` adds routes, or replaces those with the same path. Ends with `await using`. */
export async function openDoors(options: TestEngineOptions = {}, more: (opened: Opened) => Route[] = () => []) {
  const opened = openEngineWithFiles(options)
  const { engine, approvals, feed, oversight, store, log, clock, ids, attachments, links, keys, keeper } = opened
  const deps = {
    engine,
    approvals,
    feed,
    oversight,
    clock,
    attachments,
    links,
    maskText: opened.maskText,
    readScenes: createReadScenes({ store, clock }),
    whoLooks: createWhoLooks({
      waits: store.waits,
      replica: createOnlyReplica({ shared: createLocalShared(clock), owner: ids.uuid() }),
      clock,
    }),
    version: '0.0.0-test',
  }
  const added = more(opened)
  const isReplaced = ({ method, path }: Route) => added.some((one) => one.method === method && one.path === path)
  const routes = [
    ...createAgUiRoutes(deps),
    ...createCopilotKitRoutes(deps),
    ...createSessionRoutes({ ...deps, ids }),
    ...createSearchRoutes(deps),
    ...createApprovalRoutes({
      ...deps,
      readDiff: createReadDiff(store),
      noteShown: createNoteShown({ waits: store.waits, log, clock }),
      revealSecret: createRevealSecret({ waits: store.waits, log, clock }),
    }),
    ...createEventRoutes(deps),
    ...createInboxRoutes({ ...deps, inbox: createInbox({ store, log, feed, clock }) }),
    ...createToolRoutes(deps),
    ...createFileRoutes({ files: keeper, keys }),
  ].filter((route) => !isReplaced(route))
  const server = await startServer({ routes: [...routes, ...added] })
  const audit = (record: AuditRecord) => log.commit({ type: 'add_audit', audit: [record] })
  const noteRefused = createNoteRefused({ audit, clock, logger: silentLogger })
  server.server.serve({ routes: [...routes, ...added], onRefused: noteRefusedRequests(noteRefused) })
  const { url, lines } = server

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers })

  return {
    ...opened,
    url,
    lines,
    /** Also answers at a socket, as for `quarterdeck ctl`. */
    listenLocal: server.server.listenLocal,
    post,
    get,
    remove: (path: string, headers: Record<string, string> = {}) => fetch(url + path, { method: 'DELETE', headers }),
    /** Posts and reads the whole stream. */
    run: async (path: string, body: unknown, headers?: Record<string, string>) =>
      readSse(await post(path, body, headers)).rest(),
    [Symbol.asyncDispose]: async () => {
      await engine.drain(0)
      feed.close()
      await server[Symbol.asyncDispose]()
      await opened.close()
    },
  }
}

/** The same operator in the console. */
export const asConsole = { Authorization: `Bearer ${consoleToken.token}` }
/** An operator, who is the same user as a caller without a token. */
export const asOperator = { Authorization: `Bearer ${operatorToken.token}` }
/** The same operator with a token for another agent than the one that is served. */
export const asOperatorElsewhere = { Authorization: `Bearer ${otherAgentToken.token}` }
/** The user that a caller without a token counts as. */
export const asLocalUser = { Authorization: `Bearer ${localToken.token}` }
/** An operator who owns nothing and is not an admin. */
export const asEve = { Authorization: `Bearer ${eveToken.token}` }
export const asAda = { Authorization: `Bearer ${userToken.token}` }

export const eventsOf = (frames: readonly Frame[]): RunEvent[] => frames.map(({ data }) => JSON.parse(data))

/** Status and code of a refusal. */
export async function refusalOf(response: Response): Promise<{ status: number; code: unknown }> {
  const problem: unknown = await response.json()
  const code = typeof problem === 'object' && problem !== null && 'code' in problem ? problem.code : undefined
  return { status: response.status, code }
}
