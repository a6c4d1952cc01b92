// A red seed in words: what was found, under which faults, what happened last, and how to see it again.

import { execFileSync } from 'node:child_process'
import type { Trial } from './trial.ts'

const FINDINGS = 8

export function describeFailure(trial: Trial, { withLines }: { withLines: boolean }): string {
  const { seed, findings, faults, lines, evidence } = trial
  const shown = findings.slice(0, FINDINGS).map(({ checker, message }) => `  ${checker}: ${message}`)
  return [
    `seed ${seed} failed at commit ${commit()}: ${findings.length} findings`,
    ...shown,
    ...(findings.length > FINDINGS ? [`  … and ${findings.length - FINDINGS} more`] : []),
    ...(withLines ? ['faults:', JSON.stringify(faults, null, 1), `the last ${lines.length} lines:`, ...lines] : []),
    `again: npm run sim -- --seed ${seed}${evidence.elsewhere === null ? '' : ' --elsewhere'}${evidence.hosted === null ? '' : ' --hosted'}${faults.cluster === null ? '' : ' --replicas'} --trace`,
  ].join('\n')
}

function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}
