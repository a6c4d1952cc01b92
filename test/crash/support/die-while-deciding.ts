// Loaded into a server before its program: once the file ARM_FILE exists, the process kills itself in the middle of the next decision about
// an approval. The file says where: when the request has come, before the decision is committed, after that, or before it is answered.
//   --import file:///…/die-while-deciding.ts

import { existsSync, readFileSync } from 'node:fs'
import { Server, ServerResponse } from 'node:http'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

const armFile = process.env.ARM_FILE ?? ''
let isDeciding = false

function reach(point: string): void {
  if (isDeciding && readFileSync(armFile, 'utf8') === point) process.kill(process.pid, 'SIGKILL')
}

const { emit } = Server.prototype
Server.prototype.emit = function watched(this: Server, name: string | symbol, ...args: unknown[]): boolean {
  const [request] = args
  if (
    name === 'request' &&
    typeof request === 'object' &&
    request !== null &&
    'url' in request &&
    'method' in request
  ) {
    isDeciding ||= request.method === 'POST' && String(request.url).startsWith('/approvals/') && existsSync(armFile)
    reach('request')
  }
  return Reflect.apply(emit, this, [name, ...args])
}

/** Other commits happen too: of the search index, of leases. */
let hasDecided = false

const { prepare } = DatabaseSync.prototype
DatabaseSync.prototype.prepare = function watched(this: DatabaseSync, sql: string, ...rest: unknown[]): StatementSync {
  const statement: StatementSync = Reflect.apply(prepare, this, [sql, ...rest])
  const isCommit = sql === 'COMMIT'
  if (!isCommit && !/\bwaits SET\b/.test(sql)) return statement
  const { run } = statement
  Reflect.set(statement, 'run', (...values: unknown[]): unknown => {
    hasDecided ||= isDeciding && !isCommit
    if (isCommit && hasDecided) reach('before the commit')
    const done: unknown = Reflect.apply(run, statement, values)
    if (isCommit && hasDecided) reach('after the commit')
    return done
  })
  return statement
}

const { end } = ServerResponse.prototype
ServerResponse.prototype.end = function watched(this: ServerResponse, ...args: unknown[]): ServerResponse {
  if (this.req.method === 'POST' && this.req.url?.startsWith('/approvals/')) reach('answer')
  return Reflect.apply(end, this, args)
} as typeof end
