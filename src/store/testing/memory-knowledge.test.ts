import { describeKnowledgeStore } from '../knowledge.contract.ts'
import { createMemoryKnowledge } from './memory-knowledge.ts'

describeKnowledgeStore('model', async () => createMemoryKnowledge())
