// A test case that measures the search in documents.

import type { SearchCase } from '../../domain/agent/test-case.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import type { CaseResult, Finding } from '../case-result.ts'
import { expectedText, foundText, type Measured, type Miss, measureSearch, type Search } from './measure-search.ts'

export interface SearchedCase {
  outcome: CaseResult['outcome']
  findings: Finding[]
  usage: readonly TokenUsage[]
  /** The figures, in one line. */
  answer: string
}

export async function runSearchCase(testCase: SearchCase, search: Search, signal: AbortSignal): Promise<SearchedCase> {
  const measured = await measureSearch(testCase.questions, search, signal)
  const { recall, mrr, misses, lacks, usage } = measured
  const answer = measuredText(measured)
  const findings: Finding[] = []
  if (recall.at5 < testCase.recallAt5) {
    const found = [answer, ...lacks, ...misses.map(missText)].join('\n')
    findings.push({ check: 'recall@5', expected: `at least ${testCase.recallAt5}`, found })
  }
  if (testCase.mrr !== null && mrr < testCase.mrr) {
    findings.push({ check: 'mrr', expected: `at least ${testCase.mrr}`, found: answer })
  }
  return { outcome: findings.length === 0 ? 'passed' : 'failed', findings, usage, answer }
}

const measuredText = ({ questions, recall, mrr }: Measured): string =>
  `recall@1 ${recall.at1.toFixed(2)}, recall@5 ${recall.at5.toFixed(2)}, recall@10 ${recall.at10.toFixed(2)}, MRR ${mrr.toFixed(2)} of ${questions} questions`

const missText = ({ question, found }: Miss): string =>
  `${question.question} Expected ${expectedText(question)}; found ${found.length === 0 ? 'nothing' : found.map(foundText).join('; ')}.`
