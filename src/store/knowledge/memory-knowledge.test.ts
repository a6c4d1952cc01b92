import { describeKnowledgeStore } from '../knowledge.contract.ts'
import { createMemoryKnowledge } from './memory-knowledge.ts'

describeKnowledgeStore('memory', async () => createMemoryKnowledge())
