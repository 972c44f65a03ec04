"""Any server that speaks OpenAI's chat completions: Qwen, DeepSeek, vLLM, Ollama and the like."""
