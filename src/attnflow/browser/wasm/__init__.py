"""WebAssembly: a small language of expressions and statements, and its bytes."""

from attnflow.browser.wasm.module import module as module
from attnflow.browser.wasm.nodes import Buffer as Buffer
from attnflow.browser.wasm.nodes import Function as Function
from attnflow.browser.wasm.nodes import Index as Index
from attnflow.browser.wasm.nodes import Local as Local
from attnflow.browser.wasm.nodes import Node as Node
