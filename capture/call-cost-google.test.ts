import { describe, expect, test } from '@jest/globals'
import { listCostOf, rounded } from '#tests/support/list-cost.ts'

describe('a call to Google costs, by its answer', () => {
  const thousand = { promptTokenCount: 1_000, candidatesTokenCount: 1_000, totalTokenCount: 2_000 }
  const gemini = (model: string, usage: object = {}, candidate: object = {}) => ({
    modelVersion: model,
    candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, ...candidate }],
    usageMetadata: { ...thousand, ...usage },
  })
  const flash = 0.0105
  const found = (groundingMetadata: object) => ({ groundingMetadata })
  const queries = found({ webSearchQueries: ['a', 'b'] })
  const maps = found({ groundingChunks: [{ maps: { uri: 'x' } }] })
  const interaction = (usage: object, steps: object[] = []) => ({
    ...{ object: 'interaction', status: 'completed', model: 'gemini-3.5-flash', steps },
    usage: { total_input_tokens: 1_000, total_output_tokens: 1_000, ...usage },
  })

  test.each<[string, object, number | null]>([
    ['its tokens', gemini('gemini-3.5-flash'), flash],
    ['half at flex', gemini('gemini-3.5-flash', { trafficType: 'ON_DEMAND_FLEX' }), flash / 2],
    ['more at priority', gemini('gemini-3.5-flash', { trafficType: 'ON_DEMAND_PRIORITY' }), flash * 1.8],
    ['the same on demand', gemini('gemini-3.5-flash', { trafficType: 'ON_DEMAND' }), flash],
    [
      'an unknown sum where it was paid for beforehand',
      gemini('gemini-3.5-flash', { trafficType: 'PROVISIONED_THROUGHPUT' }),
      null,
    ],
    ['the tier that the usage names', gemini('gemini-3.5-flash', { serviceTier: 'flex' }), flash / 2],
    [
      'cached tokens at flex as ever, where they are',
      gemini('gemini-2.5-flash', { cachedContentTokenCount: 1_000, trafficType: 'ON_DEMAND_FLEX' }),
      0.00003 + 0.00125,
    ],
    ['each query', gemini('gemini-3.5-flash', {}, queries), flash + 0.028],
    ['one search, whatever its queries', gemini('gemini-2.5-flash', {}, queries), 0.0028 + 0.035],
    [
      'nothing for the tokens that a search brought in',
      gemini('gemini-2.5-flash', { toolUsePromptTokenCount: 9_000 }, queries),
      0.0028 + 0.035,
    ],
    [
      'pages that were named by their tokens',
      gemini('gemini-2.5-flash', { toolUsePromptTokenCount: 9_000 }, { urlContextMetadata: {} }),
      0.0028 + 0.0027,
    ],
    [
      'an unknown sum where both brought in tokens',
      gemini('gemini-2.5-flash', { toolUsePromptTokenCount: 9 }, { ...queries, urlContextMetadata: {} }),
      null,
    ],
    ['maps, once', gemini('gemini-2.5-flash', {}, maps), 0.0028 + 0.025],
    ['an unknown sum with maps by their queries', gemini('gemini-3.5-flash', {}, maps), null],
    [
      'an unknown sum with what others retrieved',
      gemini('gemini-3.5-flash', {}, found({ groundingChunks: [{ retrievedContext: { uri: 'x' } }] })),
      null,
    ],
    [
      'files of its own by their tokens',
      gemini(
        'gemini-3.5-flash',
        {},
        found({ groundingChunks: [{ retrievedContext: { fileSearchStore: 'x' } }] }),
      ),
      flash,
    ],
    [
      'audio that is heard',
      gemini('gemini-2.5-flash', {
        promptTokensDetails: [
          { modality: 'AUDIO', tokenCount: 900 },
          { modality: 'TEXT', tokenCount: 100 },
        ],
        cachedContentTokenCount: 300,
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 300 }],
      }),
      (100 * 0.3 + 600 * 1 + 300 * 0.1 + 1_000 * 2.5) / 1e6,
    ],
    [
      'images that are seen as text',
      gemini('gemini-2.5-flash', { promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 900 }] }),
      0.0028,
    ],
    [
      'an unknown sum with an image that has no price',
      gemini('gemini-2.5-flash', { candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 900 }] }),
      null,
    ],
    [
      'audio of a model without its price',
      gemini('gemini-3.8-flash', { promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 9 }] }),
      null,
    ],
    [
      'each query of an interaction',
      interaction({ total_tool_use_tokens: 5_000 }, [
        { type: 'google_search_call', arguments: { queries: ['a', 'b'] } },
        { type: 'google_search_result' },
        { type: 'model_output', content: [] },
      ]),
      flash + 0.028,
    ],
    [
      'an image in an interaction',
      interaction({ output_tokens_by_modality: [{ modality: 'image', tokens: 900 }] }),
      null,
    ],
  ])('%s', (_name, answer, cost) => {
    expect(listCostOf(answer)).toBe(rounded(cost))
  })
})
