from pkg.deepseek import IMAGE_PAD_ID as DEEPSEEK_PAD
from pkg.qwen import IMAGE_PAD_ID as QWEN_PAD

PADS = (DEEPSEEK_PAD, QWEN_PAD)
