// Several replicas on one database. Each can be killed, stopped in order and paused; when a life ends, another one begins soon. The
// proxy in front of them knows which ones answer, and takes any of these for a request.

import { assemble, type Serving, type Showable } from '../assemble.ts'
import type { Life } from '../history.ts'
import { createProcess, type Wall } from '../process.ts'
import type { Random } from '../random.ts'
import { complain, DRAIN_SLACK_MS, type Server, type ServerDeps } from '../server.ts'
import type { ClusterFaults } from './cluster-faults.ts'
import { createDatabase } from './database.ts'

export interface Cluster extends Server {
  /** A replica stands still for a while. */
  pause(): void
  /** The database goes away for a while. */
  cut(): void
  loseListeners(): void
  /** Everything works again. */
  heal(): void
  /** Whether the database answers and a replica has worked for a while without trouble. */
  isSound(): boolean
  /** Running runs with the life that owns each, null when it was given back. */
  owners(): Promise<{ runId: string; life: Life | null }[]>
}

interface Replica {
  serving: Serving
  life: Life
  name: string
  isReady: boolean
  /** Since when it has worked without a pause. */
  soundSince: number
}

/** A replica that was in trouble itself gives others a moment before it takes their runs. */
const SOUND_AFTER_MS = 4_000
/** Whoever waits for a replica in trouble waits so long at most: its lease, and some time to go on. */
const TROUBLE_MS = 15_000

export function createCluster(deps: ServerDeps, faults: ClusterFaults): Cluster {
  const { kernel, random, history, wall, isCalm } = deps
  const { process: processFaults } = deps.faults
  const database = createDatabase({ kernel, faults, history, isCalm, random: random.fork('database') })
  const replicas: (Replica | null)[] = Array.from({ length: faults.replicas }, () => null)
  const lifeOf = new Map<string, Life>()
  /** What may be shown is the same at all replicas. */
  const showable = new Map<string, Showable[]>()
  const pick = random.fork('proxy')
  let lives = 0

  const all = () => replicas.filter((one) => one !== null)
  const answering = () => all().filter(({ isReady, serving }) => isReady && !serving.process.isStopped)
  const trouble = (ms: number) => void history.troubles.push({ from: kernel.time, to: kernel.time + ms })

  function choose(draw: Random, from: Replica[]): Replica | null {
    return from[draw.below(Math.max(1, from.length))] ?? null
  }

  function bootAt(slot: number): void {
    if (replicas[slot] !== null) return
    lives += 1
    const draw = random.fork(`life ${lives}`)
    const name = `replica-${lives}`
    const clock: Wall = {
      get offset() {
        return wall.offset + skew
      },
      drift: (draw.float() * 2 - 1) * faults.drift,
    }
    const skew = Math.floor((draw.float() * 2 - 1) * faults.clockMs)
    const process = createProcess(kernel, clock, lives)
    const life: Life = { number: lives, from: kernel.time, readyAt: null, to: null, isDraining: false, end: null }
    history.lives.push(life)
    lifeOf.set(name, life)
    const connection = database.connect(process, draw.fork('connection'))
    const sharing = { ...connection, replica: name, showable }
    const serving = assemble(deps, process, connection.store, draw, sharing)
    const here: Replica = { serving, life, name, isReady: false, soundSince: kernel.time }
    replicas[slot] = here
    kernel.trace(`life ${lives} begins`)
    if (!isCalm() && draw.chance(processFaults.inRecovery)) {
      kernel.after(draw.float() * 80, () => end(here, 'killed'))
    }
    serving.engine.recover().then(
      () => {
        if (!process.alive) return
        here.isReady = true
        here.soundSince = kernel.time
        life.readyAt = kernel.time
        serving.janitor.start()
        serving.elsewhere?.recover().catch((error: unknown) => complain(history, 'start', error))
        kernel.trace(`life ${life.number} serves`)
      },
      (error: unknown) => {
        if (!process.alive) return
        complain(history, 'start', error)
        end(here, 'start failed')
      },
    )
  }

  function end(replica: Replica, how: NonNullable<Life['end']>): void {
    const slot = replicas.indexOf(replica)
    if (slot === -1) return
    replicas[slot] = null
    replica.serving.process.kill()
    replica.life.to = kernel.time
    replica.life.end = how
    if (how !== 'restarted') trouble(TROUBLE_MS)
    kernel.trace(`life ${replica.life.number} ends: ${how}`)
    kernel.after(random.float() * 1_000, () => bootAt(slot))
  }

  async function stopInOrder(replica: Replica): Promise<void> {
    const { janitor, engine, log, close } = replica.serving
    const asked = kernel.time
    const { drainMs } = processFaults
    janitor.stop()
    await engine.drain(drainMs)
    const took = kernel.time - asked
    const hadTrouble = history.troubles.some(({ from, to }) => from < kernel.time && to > asked)
    if (took > drainMs + DRAIN_SLACK_MS && !hadTrouble) {
      history.findings.push({ checker: 'drain', message: `Draining for ${drainMs} ms took ${took} ms.` })
    }
    await engine.close()
    await close()
    await log.close()
    end(replica, 'restarted')
  }

  function resume(replica: Replica): void {
    if (!replica.serving.process.isStopped) return
    kernel.trace(`life ${replica.life.number} goes on`)
    replica.soundSince = kernel.time
    replica.serving.process.goOn()
  }

  return {
    get serving() {
      return choose(pick, answering())?.serving ?? null
    },
    get disk() {
      return database.disk
    },
    boot() {
      for (const slot of replicas.keys()) bootAt(slot)
    },
    kill(how) {
      if (how === 'power cut') {
        const ms = random.float() * Math.min(faults.awayForMs, 3_000)
        trouble(ms + TROUBLE_MS)
        return database.goAway(ms, true)
      }
      const victim = choose(random, all())
      if (victim !== null) end(victim, 'killed')
    },
    restart() {
      const replica = choose(
        random,
        answering().filter(({ life }) => !life.isDraining),
      )
      if (replica === null) return
      kernel.trace(`life ${replica.life.number} is asked to end`)
      replica.life.isDraining = true
      stopInOrder(replica).catch((error: unknown) =>
        history.findings.push({ checker: 'drain', message: String(error) }),
      )
    },
    fill(full) {
      database.fill(full)
      if (full) trouble(TROUBLE_MS)
      const last = history.diskFull.at(-1)
      if (full) history.diskFull.push({ from: kernel.time, to: Number.POSITIVE_INFINITY })
      else if (last !== undefined) last.to = Math.min(last.to, kernel.time)
    },
    sweep() {
      for (const { serving } of answering()) {
        serving.janitor.sweep().catch((error: unknown) => complain(history, 'janitor', error))
      }
    },
    pause() {
      const replica = choose(random, answering())
      if (replica === null) return
      const ms = random.float() * faults.pauseForMs
      kernel.trace(`life ${replica.life.number} stands still for ${ms.toFixed(0)} ms`)
      trouble(ms + TROUBLE_MS)
      replica.serving.process.stop()
      kernel.after(ms, () => resume(replica))
    },
    cut() {
      const ms = random.float() * faults.awayForMs
      trouble(ms + TROUBLE_MS)
      database.goAway(ms, random.chance(0.3))
    },
    loseListeners: () => database.loseListeners(),
    heal() {
      database.fill(false)
      database.comeBack()
      for (const replica of all()) resume(replica)
    },
    isSound: () => !database.isAway && answering().some(({ soundSince }) => soundSince <= kernel.time - SOUND_AFTER_MS),
    async owners() {
      const found: { runId: string; life: Life | null }[] = []
      for (const name of [...lifeOf.keys()]) {
        const life = lifeOf.get(name)
        if (life === undefined) continue
        for (const { id } of await database.inner.runs.owned(name)) found.push({ runId: id, life })
      }
      for (const run of await database.inner.runs.orphans(0, 100)) {
        if (run.status === 'running' && run.leaseOwner === null) found.push({ runId: run.id, life: null })
      }
      return found
    },
    orphans: () => database.inner.runs.orphans(database.now(), 100),
    stats: () => all().map(({ serving }) => ({ ...serving.engine.stats(), watchers: serving.log.watchers })),
  }
}
