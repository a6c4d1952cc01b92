import { execFile } from 'node:child_process'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type HostileFile, heavyDocuments, hostileFiles, zipBombs } from './testing/hostile-files.ts'
import type { HostileReport } from './testing/read-hostile.ts'

/** Reads all of them in one process, one after another. */
async function readAll(files: readonly Omit<HostileFile, 'refusal'>[]): Promise<HostileReport> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'quarterdeck-hostile-'))
  const jobs = await Promise.all(
    files.map(async ({ name, kind, bytes }, at) => {
      const path = join(folder.path, String(at))
      await writeFile(path, bytes())
      return { name, kind, path }
    }),
  )
  const child = join(import.meta.dirname, 'testing', 'read-hostile.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [child, JSON.stringify(jobs)])
  const report: HostileReport = JSON.parse(stdout)
  return report
}

const outcomes = (report: HostileReport, files: readonly HostileFile[]) =>
  report.results.map(({ name, code, message }, at) => {
    const refusal = files[at]?.refusal ?? ''
    return { name, code, sentence: message.startsWith(refusal) ? refusal : message }
  })

const expected = (files: readonly HostileFile[]) =>
  files.map(({ name, refusal }) => ({ name, code: 'file_unreadable', sentence: refusal }))

describe('hostile Office files', () => {
  test('zip bombs are refused within a second and 150 MB', { timeout: 120_000 }, async () => {
    const report = await readAll(zipBombs)

    expect(outcomes(report, zipBombs)).toEqual(expected(zipBombs))
    expect(report.results.filter(({ milliseconds }) => milliseconds > 1_000)).toEqual([])
    expect(report.peak).toBeLessThan(150)
  })

  test('all other files are refused with a sentence within five seconds, and memory stays bounded', {
    timeout: 120_000,
  }, async () => {
    const report = await readAll(hostileFiles)

    expect(outcomes(report, hostileFiles)).toEqual(expected(hostileFiles))
    expect(report.results.filter(({ milliseconds }) => milliseconds > 5_000)).toEqual([])
    expect(report.peak).toBeLessThan(250)
  })

  test('Word documents that claim more than they contain are read within five seconds, and memory stays bounded', {
    timeout: 120_000,
  }, async () => {
    const report = await readAll(heavyDocuments)

    expect(report.results.map(({ name, code, message }) => ({ name, code, message }))).toEqual(
      heavyDocuments.map(({ name }) => ({ name, code: 'read', message: '' })),
    )
    expect(report.results.filter(({ milliseconds }) => milliseconds > 5_000)).toEqual([])
    expect(report.peak).toBeLessThan(300)
  })
})
