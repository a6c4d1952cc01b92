// Measures how much the upload and reading of a 50 MB PDF delays the tokens of other streams.

import { join } from 'node:path'
import { largePdf } from '../../src/files/formats/pdf/testing/large-pdf.ts'
import { medianOf } from '../scenarios/scenario.ts'
import { type LoadPlan, type LoadResult, openStage, type Target } from '../stage.ts'

interface OtherStreams {
  /** Milliseconds at p99, median of the rounds. */
  alone: number
  besidePdf: number
  /** How many PDFs were answered while tokens were measured. */
  pdfs: number
  remarks: readonly string[]
  problems: string[]
}

export const STREAMS = 20
export const ADDED_LIMIT_MS = 20
const ROUNDS = 3
const PAGES = 900
const BYTES = 49_900_000
const plan: LoadPlan = { parallel: STREAMS, runs: STREAMS, message: 'paced:50', tokens: 500, rampMs: 1_000 }

export async function measureOtherStreams(): Promise<OtherStreams> {
  const stage = await openStage({ serverScript: join(import.meta.dirname, '..', '..', 'bin', 'quarterdeck.js') })
  try {
    const server = await stage.server()
    await stage.load(server, { ...plan, tokens: 100 })
    const problems: string[] = []
    const alone: LoadResult[] = []
    const beside: LoadResult[] = []
    let pdfs = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(await stage.load(server, plan))
      // Made before the load, because making them takes the same core. They differ, so that none is cached.
      const bodies = Array.from({ length: 4 }, (_, at) => formWith(largePdf(PAGES, BYTES, `round ${round}.${at}`)))
      const load = stage.load(server, plan)
      let isOver = false
      const ended = load.finally(() => {
        isOver = true
      })
      for (const body of bodies) {
        if (isOver) break
        const problem = await sendPdf(server, body)
        if (problem === null) pdfs += 1
        else problems.push(problem)
      }
      beside.push(await ended)
    }
    problems.push(...[...alone, ...beside].flatMap((result) => result.problems))
    const p99 = ({ delayMs }: LoadResult): number => delayMs?.p99 ?? Number.NaN
    return { alone: medianOf(alone, p99), besidePdf: medianOf(beside, p99), pdfs, remarks: stage.remarks, problems }
  } finally {
    await stage.close()
  }
}

function formWith(pdf: Buffer): FormData {
  const form = new FormData()
  form.append('message', 'full tokens:5')
  form.append('files', new File([new Uint8Array(pdf)], 'large.pdf', { type: 'application/pdf' }))
  return form
}

/** Null: the PDF was read and answered. */
async function sendPdf({ url }: Target, body: FormData): Promise<string | null> {
  const answer = await fetch(`${url}agent/bench/chat`, { method: 'POST', body, signal: AbortSignal.timeout(120_000) })
  const text = await answer.text()
  return answer.status === 200 ? null : `the PDF: ${answer.status} ${text.slice(0, 200)}`
}
