// The promises of the ports as a suite of tests that every store passes. The suite follows the comments of the ports: what they
// leave open (the order of equals, the text of an error), it does not check.

import { describe } from 'vitest'
import { describeAccepting } from './contract/accept.contract.ts'
import { describeAnswers } from './contract/answer.contract.ts'
import { describeAppending } from './contract/append.contract.ts'
import { describeAskingAgain } from './contract/ask-again.contract.ts'
import { describeAudit } from './contract/audit.contract.ts'
import { describeCompaction } from './contract/compact.contract.ts'
import { describeConsumption } from './contract/consume.contract.ts'
import { describeFeed } from './contract/feed.contract.ts'
import { describeFeedback } from './contract/feedback.contract.ts'
import { describeFiles } from './contract/file.contract.ts'
import { describeGrants } from './contract/grant.contract.ts'
import { describeImports } from './contract/import.contract.ts'
import { describeKeeping } from './contract/keeping.contract.ts'
import { describeMessages } from './contract/message.contract.ts'
import { describeOutbox } from './contract/outbox.contract.ts'
import { describeOwners } from './contract/owner.contract.ts'
import { describeQuestions } from './contract/question.contract.ts'
import { describeQuorum } from './contract/quorum.contract.ts'
import { describeRemoval } from './contract/removal.contract.ts'
import { describeRepeating } from './contract/repeat.contract.ts'
import { describeRuns } from './contract/run.contract.ts'
import type { OpenStore } from './contract/samples.contract.ts'
import { describeSearch } from './contract/search.contract.ts'
import { describeSessions } from './contract/session.contract.ts'
import { describeSessionLists } from './contract/session-list.contract.ts'
import { describeSupervisedRecords } from './contract/supervised-record.contract.ts'
import { describeSupervisedSessions } from './contract/supervised-session.contract.ts'
import { describeUsage } from './contract/usage.contract.ts'
import { describeWaits } from './contract/wait.contract.ts'
import { describeWaitingSessions } from './contract/waiting-session.contract.ts'

export type { OpenStore, StoreUnderTest } from './contract/samples.contract.ts'

/** `open` gives each test a new and empty store. */
export function describeStore(name: string, open: OpenStore): void {
  describe(`${name} store`, () => {
    describeAccepting(open)
    describeRepeating(open)
    describeRuns(open)
    describeAppending(open)
    describeOwners(open)
    describeWaits(open)
    describeAnswers(open)
    describeAskingAgain(open)
    describeWaitingSessions(open)
    describeConsumption(open)
    describeGrants(open)
    describeQuestions(open)
    describeQuorum(open)
    describeFiles(open)
    describeAudit(open)
    describeUsage(open)
    describeFeed(open)
    describeOutbox(open)
    describeMessages(open)
    describeFeedback(open)
    describeSessions(open)
    describeSessionLists(open)
    describeSearch(open)
    describeSupervisedSessions(open)
    describeSupervisedRecords(open)
    describeRemoval(open)
    describeCompaction(open)
    describeImports(open)
    describeKeeping(open)
  })
}
